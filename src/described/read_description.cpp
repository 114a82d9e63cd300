#include "described/read_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/names.h"
#include "core/spec_limits.h"
#include "core/spec_names.h"
#include "core/target_name.h"
#include "described/read_expression.h"

namespace redzone::described {
namespace {

using std::string_view;

constexpr string_view kFills[] = {"uniform",  "integers", "offsets",
                                  "constant", "sums",     "special_values"};
constexpr string_view kConstraints[] = {"divides", "at_most", "require"};

// Names with another meaning in expressions.
constexpr string_view kTaken[] = {"cdiv",    "floordiv", "min", "max", "next_power_of_2",
                                  "num_sms", "and",      "or",  "not"};

bool is_taken(string_view name) {
  return std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken);
}

template <class Things>
void check_new(const TableReader& f, const Things& things, const std::string& name) {
  if (name.size() > kMostNameBytes)
    throw f.error(
        "name", fmt::format("{} characters, at most {} are possible", name.size(), kMostNameBytes));
  for (const auto& thing : things)
    if (thing.name == name) throw f.error("name", fmt::format("'{}' is declared twice", name));
}

void check_count(const TableReader& f, string_view field, std::size_t count, std::size_t most) {
  if (count > most)
    throw f.error(field, fmt::format("{} of them, at most {} are possible", count, most));
}

std::vector<std::string> names_of(const std::vector<DimSpec>& dims) {
  std::vector<std::string> names;
  names.reserve(dims.size());
  for (const auto& dim : dims) names.push_back(dim.name);
  return names;
}

DimSpec read_dim(TableReader& f, const Rules& rules, const std::vector<DimSpec>& before) {
  DimSpec dim;
  dim.name = f.name("name");
  check_new(f, before, dim.name);
  if (is_taken(dim.name))
    throw f.error("name", fmt::format("'{}' is reserved in expressions", dim.name));
  if (f.has("values")) {
    for (const auto* other : {"min", "max", "multiple_of"})
      if (f.has(other)) throw f.error(other, "contradicts 'values'");
    dim.values = f.integers("values");
    const auto& v = dim.values;
    if (v.empty()) throw f.error("values", "empty");
    check_count(f, "values", v.size(), kMostListedValues);
    if (std::adjacent_find(v.begin(), v.end(), std::greater_equal<>{}) != v.end())
      throw f.error("values", "not ascending");
    if (v.front() < rules.least_extent || v.back() > kMostExact)
      throw f.error("values", fmt::format("not in {}..2^53", rules.least_extent));
    dim.min = v.front();
    dim.max = v.back();
  } else {
    dim.min = f.integer_in("min", rules.least_extent, kMostExact);
    dim.max = f.integer_in("max", dim.min, kMostExact);
    dim.multiple_of = f.integer_in("multiple_of", 1, kMostExact);
    if (dim.max / dim.multiple_of * dim.multiple_of < dim.min)
      throw f.error("multiple_of",
                    fmt::format("no multiple of {} in {}..{}", dim.multiple_of, dim.min, dim.max));
  }
  if (f.has("tile")) dim.tile = f.integer_in("tile", 0, kMostExact);
  dim.doc = f.text("doc", "");
  f.done();
  return dim;
}

Value read_knob_value(const TableReader& f, const Rules& rules, const Node& node) {
  if (const auto* number = std::get_if<std::int64_t>(&node.value)) return *number;
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) throw f.error("values", "integers or strings are expected");
  if (rules.knob_texts_are_names && !is_identifier(*text))
    throw f.error("values", fmt::format("'{}' is not an identifier", *text));
  return *text;
}

KnobSpec read_knob(TableReader& f, const Rules& rules, const std::vector<KnobSpec>& before) {
  KnobSpec knob;
  knob.name = f.name("name");
  check_new(f, before, knob.name);
  const List& list = f.list("values", "a list of integers or of strings");
  if (list.empty()) throw f.error("values", "empty");
  check_count(f, "values", list.size(), kMostListedValues);
  for (const Node& node : list) {
    Value value = read_knob_value(f, rules, node);
    if (!knob.values.empty() && value.index() != knob.values.front().index())
      throw f.error("values", "integers and strings are mixed");
    if (std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end())
      throw f.error("values", "a value is listed twice");
    knob.values.push_back(std::move(value));
  }
  knob.doc = f.text("doc", "");
  f.done();
  return knob;
}

Constraint read_require(TableReader& f, const std::vector<std::string>& numbers,
                        const std::vector<KnobSpec>& knobs) {
  const Expression holds = read_expression(f, "holds", numbers);
  return Constraint::predicate(f.text("text", holds.text()),
                               [holds, knobs](const Dims& dims, const Config& config) {
                                 Values values = dims;
                                 add_knobs(values, knobs, config);
                                 return holds.value(values).value_or(0) != 0;
                               });
}

Constraint read_constraint(TableReader& f, const std::vector<std::string>& numbers,
                           const Description& description) {
  const auto kind = f.one_of("kind", kConstraints);
  if (kind == 2) {
    auto constraint = read_require(f, numbers, description.knobs);
    f.done();
    return constraint;
  }
  const auto dim = [&](const char* field) {
    std::string name = f.text(field);
    const auto names = names_of(description.dims);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw f.error(field, fmt::format("no dim '{}'{}", name, did_you_mean(name, names)));
    return name;
  };
  std::string a = dim("a"), b = dim("b");
  f.done();
  return kind == 0 ? Constraint::divides(std::move(a), std::move(b))
                   : Constraint::at_most(std::move(a), std::move(b));
}

std::vector<string_view> element_types(const Rules& rules) {
  std::vector<string_view> names;
  for (const string_view name : texts_of<DType>())
    if (rules.complex_elements || reals_per_element(*value_named<DType>(name)) == 1)
      names.push_back(name);
  return names;
}

void read_dtype(TableReader& f, const Rules& rules, const std::vector<KnobSpec>& knobs,
                Tensor& tensor) {
  const auto types = element_types(rules);
  if (!f.has("dtype_of")) {
    tensor.dtype = *value_named<DType>(types[f.one_of("dtype", types)]);
    return;
  }
  if (f.has("dtype")) throw f.error("dtype", "contradicts 'dtype_of'");
  tensor.dtype_of = f.text("dtype_of");
  const auto knob = std::find_if(knobs.begin(), knobs.end(),
                                 [&](const KnobSpec& k) { return k.name == tensor.dtype_of; });
  if (knob == knobs.end()) throw f.error("dtype_of", fmt::format("no knob '{}'", tensor.dtype_of));
  for (const Value& value : knob->values)
    if (const auto* text = std::get_if<std::string>(&value);
        text == nullptr || std::find(types.begin(), types.end(), *text) == types.end())
      throw f.error("dtype_of", fmt::format("knob '{}' has a value that is not one of {}",
                                            knob->name, fmt::join(types, ", ")));
}

LayoutRules read_layouts(TableReader f) {
  constexpr std::int64_t kMostGranule = 1 << 20;
  LayoutRules rules;
  const std::pair<const char*, bool LayoutRules::*> flags[] = {
      {"row_padding", &LayoutRules::row_padding}, {"transposed", &LayoutRules::transposed},
      {"offset", &LayoutRules::offset},           {"unit_strides", &LayoutRules::unit_strides},
      {"heads_first", &LayoutRules::heads_first}, {"slice", &LayoutRules::slice},
      {"broadcast", &LayoutRules::broadcast},     {"reversed", &LayoutRules::reversed}};
  for (const auto& [name, member] : flags) rules.*member = f.flag(name, false);
  rules.granule_elems = f.integer_in("granule_elems", 1, kMostGranule, 1);
  f.done();
  return rules;
}

void read_fill(TableReader f, const std::vector<std::string>& dims, Tensor& tensor) {
  constexpr Fill::Kind kinds[] = {Fill::Kind::uniform, Fill::Kind::integers,
                                  Fill::Kind::offsets, Fill::Kind::constant,
                                  Fill::Kind::sums,    Fill::Kind::special_values};
  tensor.fill = kinds[f.one_of("kind", kFills)];
  switch (tensor.fill) {
    case Fill::Kind::uniform:
    case Fill::Kind::sums:
    case Fill::Kind::special_values:
      tensor.lo = f.number("lo");
      tensor.hi = f.number("hi");
      if (tensor.hi < tensor.lo) throw f.error("hi", "less than lo");
      break;
    case Fill::Kind::constant:
      tensor.lo = tensor.hi = f.number("value");
      break;
    case Fill::Kind::integers:
      tensor.from = read_expression(f, "lo", dims);
      tensor.to = read_expression(f, "hi", dims);
      break;
    case Fill::Kind::offsets:
      tensor.to = read_expression(f, "total", dims);
      break;
  }
  f.done();
}

Tensor read_tensor(TableReader& f, const Rules& rules, const std::vector<std::string>& dims,
                   const Description& description) {
  Tensor tensor;
  tensor.name = f.name("name");
  check_new(f, description.tensors, tensor.name);
  read_dtype(f, rules, description.knobs, tensor);
  tensor.role = f.named<Role>("role");
  tensor.shape = read_expressions(f, "shape", dims);
  if (tensor.shape.size() > kMostRank)
    throw f.error("shape",
                  fmt::format("{} dims, at most {} are possible", tensor.shape.size(), kMostRank));
  if (f.has("layout")) tensor.layouts = read_layouts(f.table("layout"));
  if (f.has("fill")) read_fill(f.table("fill"), dims, tensor);
  if (f.has("align_bytes")) {
    const auto align = f.integer_in("align_bytes", 1, 1 << 20);
    tensor.align_bytes = static_cast<std::size_t>(align);
    if (!std::has_single_bit(tensor.align_bytes))
      throw f.error("align_bytes", fmt::format("{} is not a power of two", align));
  }
  if (f.has("tolerance")) {
    TableReader t = f.table("tolerance");
    tensor.tolerance = read_tolerance(t);
  }
  if (f.has("counted_by")) {
    TableReader by = f.table("counted_by");
    tensor.counted_by = {.tensor = by.name("tensor"),
                         .dim = static_cast<int>(by.integer_in("dim", 0, kMostRank - 1, 0))};
    by.done();
  }
  if (rules.returns) tensor.returned = f.flag("returned", false);
  if (tensor.returned && tensor.role != Role::out)
    throw f.error("returned", "only an output of role 'out' can be returned");
  f.text("doc", "");
  f.done();
  return tensor;
}

}  // namespace

Tolerance read_tolerance(TableReader& f) {
  const Tolerance tolerance{f.number("abs"), f.number("rel")};
  if (tolerance.abs < 0) throw f.error("abs", "negative");
  if (tolerance.rel < 0) throw f.error("rel", "negative");
  f.done();
  return tolerance;
}

std::vector<std::string> numbers_of(const TableReader& root, const Description& description) {
  std::vector<std::string> names = names_of(description.dims);
  std::set<std::string> known(names.begin(), names.end());
  for (const auto& knob : description.knobs)
    for (const Value& value : knob.values) {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr && &value != &knob.values.front()) continue;
      if (text != nullptr && !is_identifier(*text)) continue;
      std::string name = text != nullptr ? fmt::format("{}_is_{}", knob.name, *text) : knob.name;
      if (is_taken(name) || !known.insert(name).second)
        throw root.error(fmt::format("knob[{}]", knob.name),
                         fmt::format("'{}' is reserved in expressions", name));
      names.push_back(std::move(name));
    }
  return names;
}

void read_head(TableReader& root, Description& description) {
  description.name = root.text("name");
  if (description.name.size() > kMostNameBytes)
    throw root.error("name", fmt::format("{} characters, at most {} are possible",
                                         description.name.size(), kMostNameBytes));
  if (!is_target_name(description.name))
    throw root.error("name", fmt::format("'{}' is not of [a-z0-9_.]+", description.name));
  description.doc = root.text("doc", "");
  description.deterministic = root.flag("deterministic");
  description.alignment_changes_bits = root.flag("alignment_changes_bits", false);
  description.remembers_addresses = root.flag("remembers_addresses", false);
}

void read_lists(TableReader& root, const Rules& rules, Description& description) {
  auto dims = root.tables("dim");
  check_count(root, "dim", dims.size(), kMostDims);
  for (TableReader& f : dims) description.dims.push_back(read_dim(f, rules, description.dims));
  auto knobs = root.tables("knob");
  check_count(root, "knob", knobs.size(), kMostKnobs);
  for (TableReader& f : knobs) {
    if (rules.of_knob) rules.of_knob(f);
    description.knobs.push_back(read_knob(f, rules, description.knobs));
  }
  const auto numbers = numbers_of(root, description);
  for (TableReader& f : root.tables("constraint"))
    description.constraints.push_back(read_constraint(f, numbers, description));
  const auto names = names_of(description.dims);
  auto tensors = root.tables("tensor");
  check_count(root, "tensor", tensors.size(), kMostTensors);
  for (TableReader& f : tensors) {
    if (rules.of_tensor) rules.of_tensor(f);
    description.tensors.push_back(read_tensor(f, rules, names, description));
  }
  if (description.tensors.empty()) throw root.error("tensor", "missing");
  if (root.has("work")) description.work = read_expression(root, "work", numbers);
}

}  // namespace redzone::described
