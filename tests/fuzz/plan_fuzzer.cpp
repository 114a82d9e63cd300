// The text of a plan.
#include "core/plan_text.h"
#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = parse_plan(fuzz::text_of(data, size));
  if (!plan) return 0;
  const std::string text = print_plan(*plan);
  const auto again = parse_plan(text);
  fuzz::require(again.has_value(), "what is printed of a plan is a plan");
  fuzz::require(*again == *plan, "a plan that is printed and read is the same plan");
  fuzz::require(plan_hash(*again) == plan_hash(*plan), "equal plans have one hash");
  return 0;
}
