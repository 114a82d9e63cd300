// Integer expressions of a description, over dims, knobs and `num_sms`.
//
// muParser evaluates expressions in doubles. Its operators and functions are replaced by functions
// that reject results which a double cannot represent exactly, so a value is either right or an
// error. The grammar is that of src/targets/triton/README.md: `+ - *`, `//` and `%` as in Python,
// comparisons, `and or not`, also written `&& ||`, `c ? a : b`, parentheses, cdiv(a, b),
// floordiv(a, b), min, max, next_power_of_2(x). Other features of muParser are unreachable.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace redzone::described {

// Values of the names in expressions for one call: dims, and others in the same map.
using Values = Dims;

// Largest magnitude of a value, including intermediate values: a double represents every integer up
// to this one.
inline constexpr std::int64_t kMostExact = std::int64_t{1} << 53;

// A checked expression. Copies share it; several threads may evaluate it.
class Expression {
 public:
  // An error describes the problem with `text`, for example a name that is not in `known`.
  static tl::expected<Expression, std::string> parse(const std::string& text,
                                                     std::span<const std::string> known);

  const std::string& text() const;
  // The names that the expression reads, ascending.
  const std::vector<std::string>& names() const;

  // Errors: a division by zero, a value above kMostExact, a missing name.
  tl::expected<std::int64_t, std::string> value(const Values& values) const;

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<Compiled> compiled_;
};

}  // namespace redzone::described
