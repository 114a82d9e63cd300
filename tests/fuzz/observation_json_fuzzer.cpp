// An observation in the form that the store keeps.
#include "store/observation_json.h"

#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto observation = store::parse_observation(fuzz::text_of(data, size), "input");
  if (!observation) return 0;
  const std::string text = store::print_observation(*observation);
  const auto again = store::parse_observation(text, "again");
  fuzz::require(again.has_value(), "what is printed of an observation is an observation");
  // Compared as texts, since NaN is not equal to itself.
  fuzz::require(store::print_observation(*again) == text, "what was read is printed as it was");
  return 0;
}
