// `redzone reduce`: makes a stored finding smaller.
#include <fmt/format.h>

#include "cli/alarms.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/origin.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "cli/session.h"
#include "cli/store_sink.h"
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
        "time", po::value<std::string>()->default_value("60s"), "how long at most")(
        "evaluations", po::value<Count>()->default_value({5000}), "how many plans to try at most");
    words.add("id", 1);
    add_device_flag(flags);
    add_db_flag(flags);
    add_force_flag(flags);
    add_plugin_flag(flags);
    add_package_flag(flags);
    add_worker_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

Result<int> Reduce::run(const po::variables_map& flags) {
  watch_interrupts();
  auto id = parse_id(flags["id"].as<std::string>());
  if (!id) return tl::unexpected(id.error());
  auto time = duration_flag(flags, "time");
  if (!time) return tl::unexpected(time.error());
  auto finding = allowed_finding(*id, flags);
  if (!finding) return tl::unexpected(finding.error());
  auto wanted = session_options(flags, Workload::replay);
  if (!wanted) return tl::unexpected(wanted.error());
  if (flags["device"].defaulted()) wanted->device = device_of(finding->environment, wanted->device);
  auto opened = Session::open(*wanted);
  if (!opened) return tl::unexpected(opened.error());
  Session& session = **opened;
  auto entry = session.check(finding->plan, fmt::format("finding {}", *id));
  if (!entry) return tl::unexpected(with_origin(entry.error(), finding->environment));
  if (auto other = other_code(**entry, finding->environment, fmt::format("finding {}", *id)))
    print_note(fmt::format("reduce: {}", *other));
  if (auto why = session.cannot_run((*entry)->spec)) {
    print_note(fmt::format("not applicable: {}: {}", (*entry)->spec.name, *why));
    return kNotJudged;
  }
  if (auto why = session.cannot_judge(finding->oracle)) {
    print_note(fmt::format("not applicable: finding {}: {}", *id, *why));
    return kNotJudged;
  }
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  StoreSink sink(*store);
  // A suspect may get a better name. What was confirmed or marked keeps its own: a smaller plan
  // that fails in another way is another finding, which takes no mark with it.
  const bool found =
      finding->state == FindingState::confirmed || finding->state == FindingState::flaky;
  if (!found && finding->ledger.standing == Standing::fresh) sink.own(*id);
  auto options = session.triage_options();
  options.reduce_time = **time;
  options.reduce_evaluations = flags["evaluations"].as<Count>().value;
  campaign::Triage triage(session.executor(), session.catalog(), simplify_for(), sink, options);
  auto settled = triage.reduce_again(std::move(*finding), (*entry)->spec);
  if (!settled) return tl::unexpected(settled.error());
  Finding& reduced = settled->finding;
  if (settled->other) {
    campaign::Evaluator evaluator(session.executor(), (*entry)->spec, session.deadline());
    const auto other = store_alarm(*store, session, evaluator, *settled->other, **entry);
    if (!other) return tl::unexpected(other.error());
    print_note(fmt::format("reduce: it also failed in another way: finding {}: {}", other->id,
                           settled->other->verdict.signature.text()));
  }
  if (settled->now.k == 0)
    print_note(
        fmt::format("reduce: it did not fail in {} runs now; what is stored of finding {} is "
                    "of earlier runs",
                    settled->now.n, *id));
  if (reduced.id != *id)
    print_note(fmt::format("reduce: it fails as finding {} now; finding {} stays as it was",
                           reduced.id, *id));
  // As stored: the ledger of a finding is its own.
  if (auto stored = store->finding(reduced.id); stored) reduced = std::move(*stored);
  const auto artifacts = store->artifacts(reduced.id);
  if (!artifacts) return tl::unexpected(artifacts.error());
  const std::string db = db_for_commands(flags);
  print_result(json_wanted(flags) ? report::finding_json(reduced, db, *artifacts)
                                  : report::finding_text(reduced, db, *artifacts));
  if (interrupted()) return kInterrupted;
  return settled->now.k > 0 || settled->other ? kFound : kOk;
}

}  // namespace

std::unique_ptr<Command> make_reduce() {
  return std::make_unique<Reduce>();
}

}  // namespace redzone::cli
