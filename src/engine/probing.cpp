#include "engine/probing.h"

#include <fmt/format.h>

#include <utility>

#include "campaign/run_judgement.h"
#include "engine/alarms.h"
#include "engine/stored_runs.h"

namespace redzone::engine {

bisect::AxesOptions axes_asked(const oracles::Catalog& catalog, std::string_view oracle) {
  const Oracle* judge = catalog.find(oracle);
  return {catalog.axes(), judge == nullptr ? std::vector<std::string_view>{} : judge->varies()};
}

Result<std::unique_ptr<Probing>> Probing::open(const EngineOptions& options, Finding finding,
                                               const std::filesystem::path& db,
                                               std::chrono::steady_clock::time_point until) {
  std::unique_ptr<Probing> probing(new Probing);
  probing->finding_ = std::move(finding);
  probing->interrupted_ = options.interrupted;
  Finding& asked = probing->finding_;
  RZ_TRY_ASSIGN(auto rerun, open_rerun(options,
                                       {.name = fmt::format("finding {}", asked.id),
                                        .oracle = asked.oracle,
                                        .kind = asked.signature.kind,
                                        .found_in = asked.environment},
                                       asked.plan));
  probing->rerun_ = std::move(rerun);
  if (!probing->not_judged().empty()) return probing;
  RZ_TRY_ASSIGN(auto store, store::Store::open(db, store::OpenMode::read_write_create));
  probing->store_ = std::move(store);
  RZ_TRY(probing->make_prober(until));
  return probing;
}

Result<void> Probing::make_prober(std::chrono::steady_clock::time_point until) {
  Engine& engine = *rerun_.engine;
  const Oracle* oracle = engine.site().catalog().find(finding_.oracle);
  if (oracle == nullptr)
    return usage_error(
        fmt::format("finding {} is not confirmed, or only by the oracle '{}' of another build: run "
                    "'redzone reduce' first",
                    finding_.id, finding_.oracle));
  const auto triage = engine.triage_options();
  const bool hang = finding_.signature.kind == FailKind::hang;
  evaluator_ = std::make_unique<campaign::Evaluator>(
      engine.executor(), spec(), hang ? triage.hang_deadline : engine.deadline());
  const bool reuse = triage.reuse_workers && !finding_.needs_history;
  evaluator_->set_reuse(reuse ? exec::Reuse::any : exec::Reuse::none);
  runner_ = std::make_unique<bisect::EvaluatorRunner>(
      *evaluator_, engine.site().catalog_for(*rerun_.entry), *oracle, finding_.signature);
  store::ProbeKey key{.finding = finding_.id,
                      .device = engine.site().worker().device,
                      .code_hash = rerun_.entry->code_hash};
  RZ_TRY_ASSIGN(auto memory, stored_runs(*store_, key));
  bisect::ProbeBudget budget;
  budget.until = until;
  budget.stop = interrupted_;
  prober_ = std::make_unique<bisect::Prober>(*runner_, std::move(budget), std::move(memory),
                                             store_runs(*store_, std::move(key)));
  return {};
}

Result<std::optional<Finding>> Probing::store_other() {
  const auto& other = runner_->other();
  if (!other || !campaign::is_own_alarm(other->verdict, runner_->met_recorded()))
    return std::nullopt;
  RZ_TRY_ASSIGN(auto finding,
                store_alarm(*store_, rerun_.engine->site(), *evaluator_, *other, *rerun_.entry));
  return finding;
}

bisect::AxesOptions Probing::axes() const {
  return axes_asked(rerun_.engine->site().catalog_for(*rerun_.entry), finding_.oracle);
}

}  // namespace redzone::engine
