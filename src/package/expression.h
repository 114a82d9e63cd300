// Integer expressions of a package description, over dims, knobs and `num_sms`.
//
// muParser evaluates them, in doubles; operators and functions are replaced by ones that refuse
// what a double does not hold exactly, so a value is either right or an error. The grammar is that
// of src/targets/triton/README.md: `+ - *`, comparisons, `&& ||`, `c ? a : b`, parentheses,
// cdiv(a, b), floordiv(a, b), min, max, next_power_of_2(x). Nothing else of muParser is reachable.
#pragma once

#include <redzone/spec.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace redzone::package {

// What the names of expressions stand for in one call: dims, and more by the same names.
using Values = Dims;

// Largest magnitude of a value, also of those in between: a double holds every integer up to here.
inline constexpr std::int64_t kMostExact = std::int64_t{1} << 53;

// A checked expression. Copies share it; evaluating it from several threads is fine.
class Expression {
 public:
  // An error says what is wrong with `text`, names that are not in `known` among it.
  static tl::expected<Expression, std::string> parse(const std::string& text,
                                                     std::span<const std::string> known);

  const std::string& text() const;
  // The names that it reads, ascending.
  const std::vector<std::string>& names() const;

  // An error says what happened: a division by zero, a value above kMostExact, a missing name.
  tl::expected<std::int64_t, std::string> value(const Values& values) const;

 private:
  struct Compiled;
  explicit Expression(std::shared_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<Compiled> compiled_;
};

}  // namespace redzone::package
