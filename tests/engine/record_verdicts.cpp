// Writes the verdict of generated plans of every target on the host device, a line each, so that
// two builds can be compared by `diff`.
//
//   record_verdicts REDZONE [PLANS] [SEED]      (10000, 1)
//
// The targets are those of the plugins beside the program REDZONE, and the trials run in its
// workers: each plan in a process of its own, so that a verdict depends on its plan alone. Plans
// are the same for the same targets and seed. References of large calls are left out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "campaign/reference_budget.h"
#include "core/spec_mistake.h"
#include "engine/options.h"
#include "engine/plans.h"

namespace redzone {
namespace {

constexpr std::size_t kPlansAtATime = 256;

struct Asked {
  Plan plan;
  const TargetSpec* spec = nullptr;
  std::vector<TrialSpec> trials;
  std::string line = {};  // what was found without a trial
};

std::string line_of(const Asked& asked, const Verdict& verdict) {
  return fmt::format("{} {} {}", asked.plan.target, plan_hash(asked.plan),
                     verdict.failed() ? verdict.signature.text() : name_of(verdict.outcome));
}

Asked make(campaign::PlanSource& source, const TargetSpec& spec, const oracles::Catalog& catalog) {
  Asked asked;
  asked.spec = &spec;
  try {
    asked.plan = source.next();
    try_functions(spec, asked.plan);
    const Verdict verdict = catalog.device_free().judge(asked.plan, spec, {});
    if (verdict.failed()) {
      asked.line = line_of(asked, verdict);
      return asked;
    }
    asked.trials = catalog.screen().expand(asked.plan, spec);
    campaign::leave_out_large_calls(asked.plan, spec, asked.trials);
  } catch (const SpecMistake& e) {
    asked.line = fmt::format("{} {}", spec.name, e.what());
  }
  return asked;
}

void run(std::span<const Asked> all, exec::Executor& executor, const oracles::Catalog& catalog,
         std::chrono::milliseconds deadline) {
  std::vector<exec::Job> jobs;
  for (const Asked& asked : all)
    jobs.push_back({.id = jobs.size(),
                    .plan = asked.plan,
                    .trials = asked.trials,
                    .deadline = deadline,
                    .end_at_loss = true});
  const auto results = executor.run_fresh(jobs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Asked& asked = all[i];
    const std::string line = asked.line.empty()
                                 ? line_of(asked, catalog.screen().judge(asked.plan, *asked.spec,
                                                                         results[i].observations))
                                 : asked.line;
    fmt::print("{}\n", line);
  }
}

Result<void> record(const std::filesystem::path& redzone, std::size_t plans, std::uint64_t seed) {
  engine::EngineOptions options;
  const auto folder = redzone.parent_path().parent_path() / "lib/redzone/targets";
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().string().ends_with(".host.so")) options.plugins.push_back(file.path());
  std::sort(options.plugins.begin(), options.plugins.end());
  RZ_TRY_ASSIGN(const auto registry, engine::load_targets(options));
  exec::PoolOptions processes = engine::pool_options(options, registry);
  processes.command.argv.at(0) = redzone.string();
  processes.workers = 0;
  exec::Pool pool(std::move(processes));
  RZ_TRY_ASSIGN(const auto worker, pool.wait_ready(std::chrono::seconds(60)));

  const oracles::Catalog catalog;
  auto targets = registry.entries_for(options.device);
  // What it does follows what is left on the host's stack, which no seed decides.
  std::erase_if(targets,
                [](const auto* entry) { return entry->spec.name == "puzzle.unset_floor"; });
  if (targets.empty()) return usage_error("no plugin beside " + redzone.string());
  std::vector<Asked> asked;
  const auto run_all = [&] {
    run(asked, pool, catalog, options.trial_deadline());
    asked.clear();
  };
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const TargetSpec& spec = targets[t]->spec;
    const auto source = engine::generated_plans(spec, traits_of(options.device), worker, seed);
    const std::size_t of_this = plans / targets.size() + (t < plans % targets.size() ? 1 : 0);
    for (std::size_t i = 0; i < of_this; ++i) {
      asked.push_back(make(*source, spec, catalog));
      if (asked.size() == kPlansAtATime) run_all();
    }
  }
  run_all();
  return {};
}

}  // namespace
}  // namespace redzone

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: record_verdicts REDZONE [PLANS] [SEED]\n");
    return 2;
  }
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const auto done =
      redzone::record(std::filesystem::absolute(argv[1]), number(2, 10000), number(3, 1));
  if (done) return 0;
  fmt::print(stderr, "record_verdicts: {}\n", done.error().message);
  return 3;
}
