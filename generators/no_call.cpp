#include "generators/no_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "core/spec_mistake.h"
#include "generators/calls.h"
#include "generators/internal/cost.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

// Number of calls of each kind with which the functions of a spec are tested.
constexpr int kTried = 8;

constexpr std::chrono::seconds kMostTime{2};

}  // namespace

Result<std::optional<std::string>> why_no_call(const TargetSpec& spec, SpecCalls* calls,
                                               double most_bytes) {
  const auto until = std::chrono::steady_clock::now() + kMostTime;
  const SpecCalls::Until limit(calls, [=] { return std::chrono::steady_clock::now() >= until; });
  try {
    const CallMaker maker(spec, false);
    double least = std::min(maker.least().bytes, maker.cost(maker.simplest()).bytes);
    // Other settings of the knobs may need less memory, because element types depend on the knobs.
    Draw settings{rc::Random(1)};
    for (int i = 0; i < kTried && least > most_bytes; ++i)
      least = std::min(least, maker.cost(maker.fresh(settings, kUnlimited)).bytes);
    if (least > most_bytes)
      return fmt::format(
          "target '{}': the tensors of even its smallest call take {:.1f} GB, and at most {:.1f} "
          "GB are possible on this device",
          spec.name, least / 1e9, most_bytes / 1e9);
    // The seed is fixed, so that the same spec always gives the same answer.
    Draw draw{rc::Random(0)};
    for (int i = 0; i < kTried; ++i)
      for (const Call& call : {maker.fresh(draw, kUnlimited), maker.large(draw, kUnlimited)})
        try_functions(spec, call.dims, call.config);
    return std::nullopt;
  } catch (const SpecCallsEnded&) {
    return std::nullopt;
  } catch (const SpecError& e) {
    return usage_error(e.what());
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

}  // namespace redzone::generators
