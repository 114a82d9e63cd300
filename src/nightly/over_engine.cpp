#include "nightly/over_engine.h"

#include "engine/campaign_options.h"
#include "engine/plans.h"

namespace redzone::nightly {

Means means_over(engine::Engine& engine) {
  Means means{.executor = engine.executor(), .site = engine.site()};
  means.deadline = engine.deadline();
  means.prove = [&engine] { return engine.prove(); };
  means.plans = [&site = engine.site()](const TargetSpec& spec, std::uint64_t seed) {
    const TargetEntry* const target = site.registry().find(spec.name, site.device());
    return engine::generated_plans(spec, site.traits(), site.worker(), seed, {}, target);
  };
  means.simplify = engine::simplify_for();
  means.fuzzing = [&engine](std::chrono::milliseconds time, std::uint64_t plans) {
    return engine::campaign_options(engine, time, plans);
  };
  means.interrupted = [&engine] { return engine.interrupted(); };
  return means;
}

}  // namespace redzone::nightly
