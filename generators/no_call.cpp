#include "generators/no_call.h"

#include <limits>
#include <stdexcept>

#include "core/spec_mistake.h"
#include "generators/calls.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

// Number of calls of each kind that test the functions of a spec.
constexpr int kTried = 8;

constexpr Cost kUnlimited{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};

}  // namespace

Result<std::optional<std::string>> why_no_call(const TargetSpec& spec) {
  try {
    const CallMaker calls(spec, false);
    // A fixed seed, so that the same spec always gives the same answer.
    Draw draw{rc::Random(0)};
    for (int i = 0; i < kTried; ++i)
      for (const Call& call : {calls.fresh(draw, kUnlimited), calls.large(draw, kUnlimited)})
        try_functions(spec, call.dims, call.config);
    return std::nullopt;
  } catch (const SpecError& e) {
    return usage_error(e.what());
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

}  // namespace redzone::generators
