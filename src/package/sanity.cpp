#include "package/sanity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "package/call.h"

namespace redzone::package {
namespace {

// The problem with an expression's value for these names; nullopt if there is none.
using Problem = std::optional<std::string>;
using Check = std::function<Problem(const Values&)>;

// The value at `part` quarters of the dim's range.
std::int64_t value_at(const DimSpec& dim, int part) {
  if (!dim.values.empty()) return dim.values[(dim.values.size() - 1) * part / 4];
  const std::int64_t step = dim.multiple_of;
  const std::int64_t least = (dim.min + step - 1) / step, most = dim.max / step;
  return (least + (most - least) / 4 * part + (most - least) % 4 * part / 4) * step;
}

bool is_met(const Constraint& constraint, const Values& dims, const Config& config) {
  if (constraint.kind == Constraint::Kind::predicate) return constraint.holds(dims, config);
  const auto a = dims.find(constraint.a)->second, b = dims.find(constraint.b)->second;
  return constraint.kind == Constraint::Kind::divides ? b % a == 0 : a <= b;
}

// Values of the dims to try: all dims at the same fraction of their range, and the first dims small
// and large in every combination, because an expression may need one large while another is small.
std::vector<Values> probes_of(const Package& package) {
  constexpr std::size_t kMostMixed = 8;
  std::vector<Values> probes;
  const auto add = [&](const std::function<int(std::size_t)>& part_of) {
    Values dims;
    for (std::size_t i = 0; i < package.dims.size(); ++i)
      dims.emplace(package.dims[i].name, value_at(package.dims[i], part_of(i)));
    probes.push_back(std::move(dims));
  };
  for (int part = 0; part <= 4; ++part) add([&](std::size_t) { return part; });
  const std::size_t mixed = std::min(package.dims.size(), kMostMixed);
  for (std::size_t large = 0; large < std::size_t{1} << mixed; ++large)
    add([&](std::size_t i) { return i < mixed && (large >> i & 1) != 0 ? 4 : 0; });
  return probes;
}

// The values that the expression has read: " (M = 1, BLOCK = 32)".
std::string read_by(const Expression& expression, const Values& values) {
  std::vector<std::string> parts;
  for (const auto& name : expression.names())
    parts.push_back(fmt::format("{} = {}", name, values.find(name)->second));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

Check not_negative(const Expression& expression) {
  return [&expression](const Values& values) -> Problem {
    const auto value = expression.value(values);
    if (value && *value >= 0) return std::nullopt;
    return (value ? fmt::format("{} is negative", *value) : value.error()) +
           read_by(expression, values);
  };
}

Check fitting(const Argument& argument) {
  return [&argument](const Values& values) -> Problem {
    const auto value = argument.value->value(values);
    if (!value) return value.error() + read_by(*argument.value, values);
    if (argument.kind != Argument::Kind::integer || holds(argument.type, *value))
      return std::nullopt;
    return fmt::format("{} does not fit {}", *value, name_of(argument.type)) +
           read_by(*argument.value, values);
  };
}

Check range_of_integers(const Tensor& tensor) {
  return [&tensor](const Values& values) -> Problem {
    const auto from = tensor.from->value(values), to = tensor.to->value(values);
    if (!to) return to.error() + read_by(*tensor.to, values);
    // An error of `lo` is reported by its own check.
    if (!from || *from <= *to) return std::nullopt;
    return fmt::format("{} is less than lo, which is {}", *to, *from) + read_by(*tensor.to, values);
  };
}

class Sanity {
 public:
  Sanity(const TableReader& root, const Package& package)
      : root_(root), package_(package), probes_(probes_of(package)) {
    for (const auto& variant : package.variants) configs_.insert(variant.knobs);
  }

  void run() const {
    for (const auto& tensor : package_.tensors) {
      for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        require(fmt::format("tensor[{}].shape[{}]", tensor.name, i), not_negative(tensor.shape[i]));
      check_fill(tensor);
    }
    for (const auto& argument : package_.arguments)
      if (argument.value)
        require(fmt::format("argument[{}].value", argument.name), fitting(argument));
    for (std::size_t i = 0; i < package_.grid.size(); ++i)
      require(fmt::format("grid[{}]", i), not_negative(package_.grid[i]));
    if (package_.work) require("work", not_negative(*package_.work));
  }

 private:
  void check_fill(const Tensor& tensor) const {
    const std::string fill = fmt::format("tensor[{}].fill.", tensor.name);
    if (tensor.fill == Fill::Kind::offsets) require(fill + "total", not_negative(*tensor.to));
    if (tensor.fill != Fill::Kind::integers) return;
    require(fill + "lo", [&](const Values& values) -> Problem {
      const auto from = tensor.from->value(values);
      if (from) return std::nullopt;
      return from.error() + read_by(*tensor.from, values);
    });
    require(fill + "hi", range_of_integers(tensor));
  }

  bool allowed(const Values& dims, const Config& config) const {
    const auto& constraints = package_.constraints;
    return std::all_of(constraints.begin(), constraints.end(),
                       [&](const Constraint& c) { return is_met(c, dims, config); });
  }

  // Throws the problem of the first probe that the constraints allow, unless another probe has no
  // problem.
  void require(const std::string& field, const Check& check) const {
    Problem first;
    for (const auto& config : configs_)
      for (const auto& dims : probes_) {
        if (!allowed(dims, config)) continue;
        Values values = dims;
        described::add_knobs(values, package_.knobs, config);
        values["num_sms"] = kUsualMultiprocessors;
        auto problem = check(values);
        if (!problem) return;
        if (!first) first = std::move(problem);
      }
    if (first) throw root_.error(field, *first);
  }

  const TableReader& root_;
  const Package& package_;
  std::vector<Values> probes_;
  std::set<Config> configs_;
};

}  // namespace

void check_sanity(const TableReader& root, const Package& package) {
  Sanity(root, package).run();
}

}  // namespace redzone::package
