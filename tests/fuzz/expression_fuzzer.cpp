// An expression of a description: parsed over known names, and evaluated.
#include "described/expression.h"

#include <array>

#include "fuzz/harness.h"

using namespace redzone;
using described::Expression;

namespace {

const std::vector<std::string> kNames{"M", "N", "BLOCK", "num_sms", "grid_is_flat"};

described::Values all(std::int64_t value) {
  described::Values values;
  for (const auto& name : kNames) values.emplace(name, value);
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<described::Values, 5> values{
      all(0), all(1), all(-7), all(described::kMostExact),
      described::Values{{"M", 3}, {"N", 4096}, {"BLOCK", 128}, {"num_sms", 132}}};
  const std::string text(fuzz::text_of(data, size));
  const auto expression = Expression::parse(text, kNames);
  if (!expression) return 0;
  const auto again = Expression::parse(expression->text(), kNames);
  fuzz::require(again.has_value(), "the text of an expression is that expression");
  fuzz::require(again->names() == expression->names(), "it reads the same names");
  for (const auto& each : values) {
    const auto value = expression->value(each);
    fuzz::require(value == again->value(each), "equal texts have equal values");
    if (value)
      fuzz::require(*value <= described::kMostExact && *value >= -described::kMostExact,
                    "a value is exact in a double");
  }
  return 0;
}
