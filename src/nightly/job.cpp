#include "nightly/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/exit_code.h"
#include "core/utc.h"
#include "nightly/describe.h"
#include "nightly/exit_code.h"
#include "nightly/tables.h"
#include "nightly/write.h"

namespace redzone::nightly {
namespace {

// Describes the night before any later step can fail. A store error that ended the night becomes
// its problem: the report still contains what was stored before.
Result<report::Night> described(store::Store& store, std::int64_t campaign, std::string_view db,
                                const Registry& registry, const std::optional<Error>& broken) {
  auto night = describe_night(store, campaign, {.db = db, .registry = &registry, .running = true});
  if (!night) return night;
  RZ_TRY(add_bisections(*night, store, registry));
  if (broken) night->problem = broken->message;
  return night;
}

int exit_code_for(const report::Night& night, const Means& means, const NightlyOptions& options,
                  const std::optional<Error>& broken) {
  if (means.interrupted()) return kInterrupted;
  if (broken && broken->kind == ErrorKind::unsound) return kUnsound;
  return night_exit_code(night,
                         std::any_of(options.corpus.begin(), options.corpus.end(),
                                     [](const auto& plan) { return !plan.problem.empty(); }));
}

}  // namespace

Result<int> run_job(const Means& means, store::Store& store, const engine::Selection& selection,
                    const NightlyOptions& options, const JobOptions& job) {
  Nightly nightly(means, store, selection, options);
  std::optional<Error> broken;
  if (auto r = nightly.run(); !r) broken = r.error();
  if (broken && nightly.campaign() == 0) return tl::unexpected(*broken);
  auto night = described(store, nightly.campaign(), job.db, means.site.registry(), broken);
  if (!night) return tl::unexpected(broken.value_or(night.error()));
  const int code = night->exit_code = exit_code_for(*night, means, options, broken);
  if (code != kInterrupted) {
    night->ended = night->parts.back().ended = utc_now();
    night->trend.back().exit_code = night->parts.back().exit_code = code;
  }
  job.print(*night);
  Result<void> kept;
  if (job.report) kept = write_night(*night, *job.report);
  if (kept && !broken && code != kInterrupted) kept = nightly.close(code);
  if (kept) return code;
  if (code != kFound) return tl::unexpected(kept.error());
  means.note(fmt::format("nightly: {}", kept.error().message));
  return code;
}

}  // namespace redzone::nightly
