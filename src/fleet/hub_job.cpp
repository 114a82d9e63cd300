#include "fleet/hub_job.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <thread>

#include "core/exit_code.h"
#include "core/log.h"
#include "core/terminal.h"
#include "core/utc.h"
#include "fleet/clock.h"
#include "fleet/local_folder.h"
#include "fleet/publisher.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

using Time = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAnswerEvery{500};
constexpr std::chrono::seconds kCollectEvery{10};
// After a fleet was stopped, its shards have this long to publish.
constexpr std::chrono::minutes kStopped{5};

// True if no more snapshots are expected.
Result<bool> all_ended(const Layout& layout, const Fleet& fleet, const HubStatus& hub, bool stopped,
                       double stopped_for) {
  RZ_TRY_ASSIGN(const auto attempts, read_attempts(layout, fleet.uid));
  int over = 0, running = 0;
  for (int shard = 1; shard <= fleet.shards; ++shard) {
    if (past_of(attempts, shard).over) {
      ++over;
      continue;
    }
    const auto after = attempts.lower_bound({shard + 1, 0});
    if (after == attempts.begin()) continue;
    const auto& [latest, status] = *std::prev(after);
    if (latest.shard == shard && !status.has_ended() && !is_lost(status, hub)) ++running;
  }
  if (over == fleet.shards) return true;
  // The hub waited in Slurm's queue until after the last job.
  if (!hub.finished.empty() && running == 0) return true;
  const double limit = std::chrono::duration<double>(kStopped).count();
  return stopped && (running == 0 || stopped_for >= limit);
}

class Running {
 public:
  Running(const HubJob& job, const Attempt& attempt, const Fleet& fleet, SharedHub& folder)
      : job_(job),
        fleet_(fleet),
        folder_(folder),
        hub_(folder, monotonic_seconds, fleet.lease_seconds) {
    status_.attempt = attempt.number;
    status_.host = job.host;
    status_.began = utc_now();
    // The figures are sums over all attempts of the hub.
    if (auto earlier = read_record<HubStatus>(job.layout.hub_status()))
      before_ = *std::move(earlier);
    status_.finished = job.finish ? status_.began : before_.finished;
  }

  Result<void> run() {
    RZ_TRY(hub_.begin());
    for (auto collected = Time::time_point{};;) {
      note(hub_.answer());
      // The later attempt merges everything that exists.
      if (!job_.finish && folder_.is_replaced()) break;
      const bool last = job_.interrupted() || job_.finish;
      if (last || Time::now() - collected >= kCollectEvery) {
        collected = Time::now();
        const bool over = is_over();
        auto merged = collect();
        if (job_.finish && !merged) return merged;
        if (job_.finish && !folder_.is_owner())
          return harness_error(fmt::format(
              "{}: nothing was published: a later attempt of the hub has begun, or the attempts "
              "cannot be read",
              job_.layout.root.string()));
        if (last || (over && merged)) break;
      }
      std::this_thread::sleep_for(kAnswerEvery);
    }
    status_.ended = utc_now();
    return tell();
  }

 private:
  // Returns false while the attempts cannot be read, which may be temporary.
  bool is_over() {
    std::error_code ignored;
    const bool stopped = fs::exists(job_.layout.stop(), ignored);
    if (stopped && stopped_at_ == 0) stopped_at_ = monotonic_seconds();
    // Read the attempts before listing the snapshots: snapshots that a shard published before it
    // ended are then in the list.
    const auto ended = all_ended(job_.layout, fleet_, status_, stopped,
                                 stopped ? monotonic_seconds() - stopped_at_ : 0);
    note(ended);
    return ended && *ended;
  }
  // Merges and publishes; the status reports the error of a merge until one succeeds.
  Result<void> collect() {
    const double begun = monotonic_seconds();
    // A last job that is told to end is continued later where it stopped. Any other attempt has
    // time for the merge, unless a later attempt has begun, which waits for this one's end.
    const auto merged =
        hub_.collect([this] { return job_.finish ? job_.interrupted() : folder_.is_replaced(); });
    note(merged);
    seconds_ += monotonic_seconds() - begun;
    failed_ = merged ? "" : printable(merged.error().message);
    note(tell());
    if (!merged) return tl::unexpected(merged.error());
    return {};
  }
  template <class T>
  void note(const Result<T>& result) {
    if (!result) log::warn("fleet: {}", result.error().message);
  }
  Result<void> tell() {
    if (!folder_.is_owner()) return {};
    const HubFigures& figures = hub_.figures();
    status_.updated = utc_now();
    status_.merges = before_.merges + figures.merges;
    status_.granted = before_.granted + figures.granted;
    status_.leased = before_.leased + figures.leased;
    status_.reduced = before_.reduced + figures.reduced;
    status_.merge_seconds = before_.merge_seconds + seconds_;
    status_.problems = folder_.problems();
    if (!failed_.empty()) status_.problems.push_back(failed_);
    for (const auto& [attempt, why] : figures.refused)
      status_.problems.push_back(fmt::format("attempt {}: {}", text_of(attempt), printable(why)));
    return write_record(job_.layout.hub_status(), status_);
  }

  const HubJob& job_;
  const Fleet& fleet_;
  SharedHub& folder_;
  Hub hub_;
  HubStatus before_;  // status left by the previous attempt
  HubStatus status_;
  std::string failed_;  // why the latest merge failed
  double seconds_ = 0;  // spent on merging and publishing
  double stopped_at_ = 0;
};

Result<void> run_hub_attempt(const HubJob& job, const Fleet& fleet, const Attempt& attempt) {
  RZ_TRY_ASSIGN(const auto local,
                LocalFolder::make(job.local, local_name(fleet, "hub"), attempt.number));
  RZ_TRY_ASSIGN(const auto folder,
                SharedHub::open(job.layout, fleet.uid, attempt, local / "hub.db"));
  return Running(job, attempt, fleet, *folder).run();
}

// Waits for the previous attempt of the hub, which ends when it sees that this attempt has begun;
// it may be in the middle of a merge. A report written before that would call the previous attempt
// lost.
void wait_for_the_one_before(const HubJob& job, const Fleet& fleet, const Attempt& own) {
  const auto until = Time::now() + job.earlier_end_within;
  const auto runs = [&] {
    const auto attempts = read_attempts(job.layout, fleet.uid);
    if (!attempts) return false;
    const auto before = attempts->find({kHubShard, own.number - 1});
    return before != attempts->end() && !before->second.has_ended();
  };
  while (!job.interrupted() && Time::now() < until && runs())
    std::this_thread::sleep_for(kAnswerEvery);
}

}  // namespace

Result<void> run_hub(const HubJob& job) {
  RZ_TRY_ASSIGN(const Fleet fleet, read_fleet_of(job.layout, job.uid));
  const AttemptStatus status{.fleet = fleet.uid, .host = job.host, .began = utc_now()};
  RZ_TRY_ASSIGN(const Attempt attempt, claim_attempt(job.layout, kHubShard, status));
  auto ran = run_hub_attempt(job, fleet, attempt);
  if (job.finish) wait_for_the_one_before(job, fleet, attempt);
  end_attempt(
      job.layout, attempt, status,
      ran ? AttemptEnd{job.interrupted() ? kInterrupted : kOk} : AttemptEnd::of(ran.error()));
  return ran;
}

}  // namespace redzone::fleet
