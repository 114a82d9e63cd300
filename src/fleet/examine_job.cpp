#include "fleet/examine_job.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/child_process.h"
#include "core/exit_code.h"
#include "core/log.h"
#include "core/utc.h"
#include "fleet/describe.h"
#include "fleet/local_folder.h"
#include "fleet/process.h"
#include "fleet/publisher.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

using Time = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr std::chrono::milliseconds kLook{200};
// Time limits for one finding: enough for most bisections, and for runs of the plan alone.
constexpr const char* kReduceTime = "2m";
constexpr const char* kBisectTime = "2m";
constexpr const char* kRunTime = "20s";

struct Subject {
  std::int64_t id = 0;
  // found_here: a shard on this model met the finding. reduces: the finding is not reduced yet, and
  // this model is to reduce it.
  bool found_here = false, reduces = false;

  // Work that only this job can do comes first.
  int turn() const {
    if (!found_here) return 2;
    return reduces ? 0 : 1;
  }
};

// The findings to examine, in order: those that the fleet met. Other findings in the store were
// examined before.
Result<std::vector<Subject>> subjects_of(const ExamineJob& job, const Fleet& fleet,
                                         store::Store& store) {
  RZ_TRY_ASSIGN(const auto met_by, shards_that_met(fleet, store));
  RZ_TRY_ASSIGN(const auto findings, store.findings());
  std::vector<Subject> subjects;
  for (const auto& finding : findings) {
    const auto shards = met_by.find(finding.id);
    if (shards == met_by.end() || !was_found(finding.state) || finding.program ||
        finding.ledger.standing == Standing::quarantined)
      continue;
    std::set<int> models;
    for (const int shard : shards->second) models.insert(model_of(fleet, shard));
    subjects.push_back({.id = finding.id,
                        .found_here = models.contains(job.model),
                        .reduces = !finding.minimal && *models.begin() == job.model});
  }
  std::stable_sort(subjects.begin(), subjects.end(),
                   [](const Subject& a, const Subject& b) { return a.turn() < b.turn(); });
  return subjects;
}

// Creates the job's store from everything that has been published, and returns the findings to
// examine.
Result<std::vector<Subject>> gather(const ExamineJob& job, const Fleet& fleet,
                                    const Attempt& attempt, const fs::path& file) {
  RZ_TRY_ASSIGN(auto folder, SharedHub::open(job.layout, fleet.uid, attempt, file));
  RZ_TRY_ASSIGN(const auto snapshots, folder->snapshots());
  RZ_TRY_ASSIGN(auto merged, folder->merged());
  for (const auto& snapshot : snapshots) {
    if (merged[snapshot.attempt] >= snapshot.number) continue;
    if (const auto done = folder->merge(snapshot); !done)
      log::warn("fleet: {}", done.error().message);  // the hub's status also reports the error
  }
  return subjects_of(job, fleet, folder->store());
}

class Examination {
 public:
  Examination(const ExamineJob& job, const Fleet& fleet, fs::path store, Publisher& publisher)
      : job_(job), fleet_(fleet), store_(std::move(store)), publisher_(publisher) {
    if (fleet.seconds > 0)
      until_ = Time::now() + std::chrono::duration_cast<Time::duration>(
                                 std::chrono::duration<double>(fleet.seconds));
  }

  Result<int> run(const std::vector<Subject>& subjects) {
    for (const auto& s : subjects) {
      if (job_.interrupted()) return kInterrupted;
      if (Time::now() >= until_) break;
      if (s.reduces) RZ_TRY(run_command("reduce", s.id, kReduceTime));
      // The first step of a bisection runs the plan unchanged; if that passes, it is also the last
      // step.
      RZ_TRY(run_command("bisect", s.id, s.found_here ? kBisectTime : kRunTime));
      publisher_.publish(true);
    }
    return job_.interrupted() ? kInterrupted : kOk;
  }

 private:
  // Ignores the command's exit code: a finding that cannot be examined here must not block others.
  Result<void> run_command(const char* command, std::int64_t id, const char* time) {
    Words words{job_.redzone, command, std::to_string(id), "--time", time, "--db", store_.string()};
    words.insert(words.end(), fleet_.reruns.begin(), fleet_.reruns.end());
    RZ_TRY_ASSIGN(auto child, ChildProcess::start({.words = std::move(words)}));
    for (bool told = false; !child.ended();) {
      std::this_thread::sleep_for(kLook);
      if (told || !job_.interrupted()) continue;
      told = true;
      child.signal(SIGTERM);
    }
    log::info("fleet: {} {} ended with {}", command, id, exit_code_of_wait(child.wait()));
    return {};
  }

  const ExamineJob& job_;
  const Fleet& fleet_;
  fs::path store_;
  Publisher& publisher_;
  Time::time_point until_ = Time::time_point::max();
};

Result<int> run_examiner(const ExamineJob& job, const Fleet& fleet) {
  AttemptStatus status{.fleet = fleet.uid, .host = job.host, .job = job.job, .began = utc_now()};
  RZ_TRY_ASSIGN(const Attempt attempt,
                claim_attempt(job.layout, examiner_of(fleet, job.model), status));
  auto folder = LocalFolder::make(job.local, local_name(fleet, fmt::format("model-{}", job.model)),
                                  attempt.number);
  if (!folder) {
    end_attempt(job.layout, attempt, std::move(status), AttemptEnd::of(folder.error()));
    return tl::unexpected(folder.error());
  }
  const fs::path store = *folder / "redzone.db";
  Publisher publisher(job.layout, attempt, status, store);
  auto code = [&]() -> Result<int> {
    RZ_TRY_ASSIGN(const auto subjects, gather(job, fleet, attempt, store));
    return Examination(job, fleet, store, publisher).run(subjects);
  }();
  const auto end = publisher.conclude(code ? AttemptEnd{*code} : AttemptEnd::of(code.error()),
                                      *folder, job.interrupted, job.now);
  if (!code) return code;
  return end.exit_code;
}

}  // namespace

Result<int> run_examination(const ExamineJob& job) {
  RZ_TRY_ASSIGN(const Fleet fleet, read_fleet_of(job.layout, job.uid));
  const auto models = static_cast<int>(fleet.models.size());
  if (job.model < 1 || job.model > models)
    return usage_error(
        fmt::format("{}: has no model {}, of {}", job.layout.root.string(), job.model, models));
  std::error_code error;
  if (fs::exists(job.layout.stop(), error)) return kOk;
  return run_examiner(job, fleet);
}

}  // namespace redzone::fleet
