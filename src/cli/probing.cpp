#include "cli/probing.h"
#include "cli/output.h"

#include <fmt/format.h>

#include "cli/alarms.h"
#include "cli/interrupt.h"
#include "cli/origin.h"
#include "cli/selection.h"

namespace redzone::cli {

void add_probing_flags(po::options_description& flags, po::positional_options_description& words) {
  flags.add_options()("id", po::value<std::string>()->required(), "finding number")(
      "time", po::value<std::string>()->default_value("2m"),
      "how long at most; what was run is stored, so that a second time goes on");
  words.add("id", 1);
  add_device_flag(flags);
  add_db_flag(flags);
  add_force_flag(flags);
  add_plugin_flag(flags);
  add_package_flag(flags);
  add_worker_flags(flags);
  add_json_flag(flags);
}

Result<bisect::Memory> stored_runs(store::Store& store, const store::ProbeKey& key) {
  const auto probes = store.probes(key);
  if (!probes) return tl::unexpected(probes.error());
  bisect::Memory memory;
  for (const auto& p : *probes)
    memory[p.plan_hash] = {p.same, p.other, p.passed, p.unjudged, p.said};
  return memory;
}

bisect::Record store_runs(store::Store& store, store::ProbeKey key) {
  return [&store, key = std::move(key)](const Plan& plan, const bisect::Counts& c) {
    return store.add_probe(key, plan, {"", c.same, c.other, c.passed, c.unjudged, c.said});
  };
}

Result<std::chrono::steady_clock::time_point> end_of_time(const po::variables_map& flags) {
  const auto time = duration_flag(flags, "time");
  if (!time) return tl::unexpected(time.error());
  return std::chrono::steady_clock::now() + **time;
}

Result<std::unique_ptr<Probing>> Probing::open(const po::variables_map& flags,
                                               std::chrono::steady_clock::time_point until,
                                               const std::optional<std::filesystem::path>& build) {
  auto id = parse_id(flags["id"].as<std::string>());
  if (!id) return tl::unexpected(id.error());
  std::unique_ptr<Probing> probing(new Probing);
  auto finding = allowed_finding(*id, flags);
  if (!finding) return tl::unexpected(finding.error());
  probing->finding_ = std::move(*finding);
  auto options = session_options(flags, Workload::replay);
  if (!options) return tl::unexpected(options.error());
  if (flags["device"].defaulted())
    options->device = device_of(probing->finding_.environment, options->device);
  if (build) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(*build, error);
    options->plugins.clear();
    options->packages.clear();
    (folder ? options->packages : options->plugins).push_back(*build);
  }
  auto session = Session::open(*options);
  if (!session) return tl::unexpected(session.error());
  probing->session_ = std::move(*session);
  const std::string what = fmt::format("finding {}", *id);
  auto entry = probing->session_->check(probing->finding_.plan, what);
  if (!entry) return tl::unexpected(with_origin(entry.error(), probing->finding_.environment));
  if (auto other = other_code(**entry, probing->finding_.environment, what)) print_note(*other);
  probing->entry_ = *entry;
  if (auto why = probing->session_->cannot_run((*entry)->spec))
    probing->not_judged_ = fmt::format("{}: {}", (*entry)->spec.name, *why);
  else if (auto no = probing->session_->cannot_judge(probing->finding_.oracle))
    probing->not_judged_ = fmt::format("{}: {}", what, *no);
  if (!probing->not_judged_.empty()) return probing;
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  probing->store_ = std::move(*store);
  if (auto made = probing->make_prober(until); !made) return tl::unexpected(made.error());
  return probing;
}

Result<void> Probing::make_prober(std::chrono::steady_clock::time_point until) {
  const Oracle* oracle = session_->catalog().find(finding_.oracle);
  if (oracle == nullptr)
    return usage_error(
        fmt::format("finding {}: it was not confirmed yet, or by the oracle '{}' of "
                    "another build: reduce it first",
                    finding_.id, finding_.oracle));
  const auto triage = session_->triage_options();
  const bool hang = finding_.signature.kind == FailKind::hang;
  evaluator_ = std::make_unique<campaign::Evaluator>(
      session_->executor(), spec(), hang ? triage.hang_deadline : session_->deadline());
  evaluator_->set_reuse(triage.reuse_workers && !finding_.needs_history);
  runner_ = std::make_unique<bisect::EvaluatorRunner>(*evaluator_, session_->catalog(), *oracle,
                                                      finding_.signature);
  store::ProbeKey key{finding_.id, session_->hello().device, entry_->code_hash};
  auto memory = stored_runs(*store_, key);
  if (!memory) return tl::unexpected(memory.error());
  bisect::ProbeBudget budget;
  budget.until = until;
  budget.stop = [] { return interrupted(); };
  prober_ = std::make_unique<bisect::Prober>(*runner_, std::move(budget), std::move(*memory),
                                             store_runs(*store_, std::move(key)));
  return {};
}

Result<std::optional<Finding>> Probing::store_other() {
  if (!runner_->other()) return std::nullopt;
  auto finding = store_alarm(*store_, *session_, *evaluator_, *runner_->other(), *entry_);
  if (!finding) return tl::unexpected(finding.error());
  return *finding;
}

bisect::AxesOptions Probing::axes() const {
  return {session_->triage_options().schedules, finding_.signature.kind};
}

}  // namespace redzone::cli
