#include "engine/rerun.h"

#include <fmt/format.h>

#include <utility>

#include "engine/origin.h"

namespace redzone::engine {

Result<Rerun> open_rerun(const EngineOptions& options, const RecordedPlan& recorded, Plan& plan) {
  RZ_TRY_ASSIGN(auto opened, Engine::open(options));
  Rerun out;
  out.engine = std::move(opened);
  const Site& site = out.engine->site();
  const auto entry = site.check(plan, recorded.name);
  if (!entry) return tl::unexpected(with_origin(entry.error(), recorded.found_in));
  out.entry = *entry;
  out.other_code = other_code(**entry, recorded.found_in, recorded.name).value_or("");
  if (const auto why = site.cannot_run((*entry)->spec))
    out.not_judged = fmt::format("{}: {}", (*entry)->spec.name, *why);
  else if (const auto no = site.cannot_judge(recorded))
    out.not_judged = fmt::format("{}: {}", recorded.name, *no);
  return out;
}

}  // namespace redzone::engine
