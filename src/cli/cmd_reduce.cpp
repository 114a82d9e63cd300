// `redzone reduce`: makes a stored finding smaller.
#include <fmt/format.h>

#include <chrono>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/selection_flags.h"
#include "engine/alarms.h"
#include "engine/plans.h"
#include "engine/rerun.h"
#include "engine/store_sink.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

class Reduce final : public Command {
 public:
  std::string_view name() const override { return "reduce"; }
  std::string_view synopsis() const override { return "redzone reduce ID [options]"; }
  std::string_view summary() const override { return "confirm a finding and reduce it further"; }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("id", po::value<std::string>()->required(), "finding number")(
        "time", po::value<std::string>()->default_value("60s"), "time limit")(
        "evaluations", po::value<Count>()->default_value({5000}), "limit of the plans to try");
    words.add("id", 1);
    add_device_flag(flags);
    add_db_flag(flags);
    add_force_flag(flags);
    add_target_flags(flags);
    add_worker_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// The last quarter is reserved for measuring and explaining the result. The command ends at the
// time limit, except for a running trial, which has its own deadline.
campaign::TriageOptions limited(campaign::TriageOptions options, std::chrono::milliseconds time,
                                std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + time;
  const auto is_over = [interrupt = options.stop](std::chrono::steady_clock::time_point end) {
    return (interrupt && interrupt()) || std::chrono::steady_clock::now() >= end;
  };
  options.reduce_time = time * 3 / 4;
  options.interrupted = options.stop;
  options.stop = [=] { return is_over(until); };
  options.cut_off = [=, end = until + deadline] { return is_over(end); };
  return options;
}

// Tells what is surprising in the result of reducing finding `id`.
void print_notes(std::int64_t id, const campaign::Triage::Settled& settled) {
  if (settled.now.k == 0)
    print_note(
        fmt::format("reduce: the plan did not fail in {} runs now; the stored results of finding "
                    "{} are of earlier runs",
                    settled.now.n, id));
  if (settled.finding.id != id)
    print_note(fmt::format("reduce: the plan fails as finding {} now; finding {} is unchanged",
                           settled.finding.id, id));
}

Result<int> Reduce::run(const po::variables_map& flags, Results& out) {
  watch_interrupts();
  RZ_TRY_ASSIGN(auto id, parse_id(flags["id"].as<std::string>()));
  RZ_TRY_ASSIGN(const auto time, duration_flag(flags, "time"));
  RZ_TRY_ASSIGN(auto finding, allowed_target_finding(id, flags, "reduce"));
  RZ_TRY_ASSIGN(const auto wanted, rerun_options(flags, finding.environment));
  RZ_TRY_ASSIGN(auto rerun, engine::open_rerun(wanted,
                                               {.name = fmt::format("finding {}", id),
                                                .oracle = finding.oracle,
                                                .kind = finding.signature.kind,
                                                .found_in = finding.environment},
                                               finding.plan));
  if (!rerun.other_code.empty()) print_note(fmt::format("reduce: {}", rerun.other_code));
  if (!rerun.not_judged.empty()) {
    print_note(fmt::format("not applicable: {}", rerun.not_judged));
    return kNotJudged;
  }
  engine::Engine& engine = *rerun.engine;
  const TargetSpec& spec = rerun.entry->spec;
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  engine::StoreSink sink(store);
  // A suspect may get a more specific signature. A confirmed or marked finding keeps its signature:
  // a smaller plan that fails in another way is another finding, which does not inherit the mark.
  if (!was_found(finding.state) && finding.ledger.standing == Standing::fresh) sink.own(id);
  auto options = limited(engine.triage_options(), *time, engine.deadline());
  options.reduce_evaluations = flags["evaluations"].as<Count>().value;
  campaign::Triage triage(engine.executor(), engine.site().catalog_for(*rerun.entry),
                          engine::simplify_for(), sink, options);
  RZ_TRY_ASSIGN(auto settled, triage.reduce_again(std::move(finding), spec));
  Finding& reduced = settled.finding;
  if (settled.other) {
    campaign::Evaluator evaluator(engine.executor(), spec, engine.deadline());
    RZ_TRY_ASSIGN(const auto other, engine::store_alarm(store, engine.site(), evaluator,
                                                        *settled.other, *rerun.entry));
    print_note(fmt::format("reduce: the plan also failed in another way: finding {}: {}", other.id,
                           settled.other->verdict.signature.text()));
  }
  print_notes(id, settled);
  // Reads the stored finding, which includes the finding's own ledger.
  if (auto stored = store.finding(reduced.id); stored) reduced = std::move(*stored);
  // An imported finding has no device and no origin; it receives those of a run in which it failed.
  if (reduced.environment.device.empty() && settled.now.k > 0) {
    reduced.environment = engine.site().environment(*rerun.entry);
    RZ_TRY(store.update(reduced));
  }
  RZ_TRY_ASSIGN(const auto artifacts, store.artifacts(reduced.id));
  const std::string db = db_for_commands(flags);
  out.print(json_wanted(flags) ? report::finding_json(reduced, db, artifacts)
                               : report::finding_text(reduced, db, artifacts));
  if (interrupted()) return kInterrupted;
  return settled.now.k > 0 || settled.other ? kFound : kOk;
}

}  // namespace

std::unique_ptr<Command> make_reduce() {
  return std::make_unique<Reduce>();
}

}  // namespace redzone::cli
