#include "engine/stored_runs.h"

#include <utility>

namespace redzone::engine {

Result<bisect::Memory> stored_runs(store::Store& store, const store::ProbeKey& key) {
  RZ_TRY_ASSIGN(const auto probes, store.probes(key));
  bisect::Memory memory;
  for (const auto& p : probes)
    memory[p.plan_hash] = {.same = p.same,
                           .other = p.other,
                           .passed = p.passed,
                           .unjudged = p.unjudged,
                           .said = p.said};
  return memory;
}

bisect::Record store_runs(store::Store& store, store::ProbeKey key) {
  return [&store, key = std::move(key)](const Plan& plan, const bisect::Counts& c) {
    return store.add_probe(key, plan,
                           {.plan_hash = "",
                            .same = c.same,
                            .other = c.other,
                            .passed = c.passed,
                            .unjudged = c.unjudged,
                            .said = c.said});
  };
}

}  // namespace redzone::engine
