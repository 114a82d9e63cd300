#include "generators/no_call.h"

#include <chrono>
#include <stdexcept>

#include "core/spec_mistake.h"
#include "generators/calls.h"
#include "generators/internal/cost.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

// Number of calls of each kind that test the functions of a spec.
constexpr int kTried = 8;

constexpr std::chrono::seconds kMostTime{2};

}  // namespace

Result<std::optional<std::string>> why_no_call(const TargetSpec& spec, SpecCalls* calls) {
  const auto until = std::chrono::steady_clock::now() + kMostTime;
  const SpecCalls::Until limit(calls, [=] { return std::chrono::steady_clock::now() >= until; });
  try {
    const CallMaker maker(spec, false);
    // A fixed seed, so that the same spec always gives the same answer.
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
