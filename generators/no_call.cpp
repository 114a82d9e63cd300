#include "generators/no_call.h"

#include <stdexcept>

#include "generators/calls.h"

namespace redzone::generators {

std::optional<std::string> why_no_call(const TargetSpec& spec) {
  try {
    const CallMaker calls(spec, false);
    return std::nullopt;
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace redzone::generators
