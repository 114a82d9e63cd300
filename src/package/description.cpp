#include "package/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/names.h"
#include "core/spec_names.h"
#include "core/target_name.h"
#include "package/arguments.h"
#include "package/read_expression.h"

namespace redzone::package {
namespace {

using std::string_view;

constexpr string_view kFills[] = {"uniform", "integers", "offsets", "constant"};
constexpr string_view kConstraints[] = {"divides", "at_most"};

// Names with another meaning in expressions.
constexpr string_view kTaken[] = {"cdiv", "floordiv", "min", "max", "next_power_of_2", "num_sms"};

// Maximum rank of a tensor, as in <redzone/spec.h>.
constexpr std::size_t kMostRank = 5;

template <class Things>
void check_new(const TableReader& f, const Things& things, const std::string& name) {
  for (const auto& thing : things)
    if (thing.name == name) throw f.error("name", fmt::format("'{}' is declared twice", name));
}

DimSpec read_dim(TableReader& f, const std::vector<DimSpec>& before) {
  DimSpec dim;
  dim.name = f.name("name");
  check_new(f, before, dim.name);
  if (std::find(std::begin(kTaken), std::end(kTaken), dim.name) != std::end(kTaken))
    throw f.error("name", fmt::format("'{}' is reserved in expressions", dim.name));
  if (f.has("values")) {
    for (const auto* other : {"min", "max", "multiple_of"})
      if (f.has(other)) throw f.error(other, "contradicts 'values'");
    dim.values = f.integers("values");
    const auto& v = dim.values;
    if (v.empty()) throw f.error("values", "empty");
    if (std::adjacent_find(v.begin(), v.end(), std::greater_equal<>{}) != v.end())
      throw f.error("values", "not ascending");
    if (v.front() < 1 || v.back() > kMostExact) throw f.error("values", "not in 1..2^53");
    dim.min = v.front();
    dim.max = v.back();
  } else {
    dim.min = f.integer_in("min", 1, kMostExact);
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

// Adds the name of a knob that a launcher may choose to `tuned`.
KnobSpec read_knob(TableReader& f, const std::vector<KnobSpec>& before,
                   std::vector<std::string>& tuned) {
  KnobSpec knob;
  knob.name = f.name("name");
  check_new(f, before, knob.name);
  const List& list = f.list("values", "a list of integers or of strings");
  if (list.empty()) throw f.error("values", "empty");
  for (const Node& node : list) {
    Value value;
    if (const auto* number = std::get_if<std::int64_t>(&node.value))
      value = *number;
    else if (const auto* text = std::get_if<std::string>(&node.value))
      value = *text;
    else
      throw f.error("values", "integers or strings are expected");
    if (const auto* text = std::get_if<std::string>(&value); text && !is_identifier(*text))
      throw f.error("values", fmt::format("'{}' is not an identifier", *text));
    if (!knob.values.empty() && value.index() != knob.values.front().index())
      throw f.error("values", "integers and strings are mixed");
    if (std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end())
      throw f.error("values", "a value is listed twice");
    knob.values.push_back(std::move(value));
  }
  if (f.flag("tune", false)) tuned.push_back(knob.name);
  knob.doc = f.text("doc", "");
  f.done();
  return knob;
}

Constraint read_constraint(TableReader& f, const std::vector<DimSpec>& dims) {
  const auto kind = f.one_of("kind", kConstraints);
  const auto dim = [&](const char* field) {
    std::string name = f.text(field);
    std::vector<std::string> names;
    names.reserve(dims.size());
    for (const auto& d : dims) names.push_back(d.name);
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw f.error(field, fmt::format("no dim '{}'{}", name, did_you_mean(name, names)));
    return name;
  };
  std::string a = dim("a"), b = dim("b");
  f.done();
  return kind == 0 ? Constraint::divides(std::move(a), std::move(b))
                   : Constraint::at_most(std::move(a), std::move(b));
}

void read_dtype(TableReader& f, const Package& package, Tensor& tensor) {
  const auto& knobs = package.knobs;
  if (!f.has("dtype_of")) {
    tensor.dtype = f.named<DType>("dtype");
    return;
  }
  if (f.has("dtype")) throw f.error("dtype", "contradicts 'dtype_of'");
  tensor.dtype_of = f.text("dtype_of");
  const auto knob = std::find_if(knobs.begin(), knobs.end(),
                                 [&](const KnobSpec& k) { return k.name == tensor.dtype_of; });
  if (knob == knobs.end()) throw f.error("dtype_of", fmt::format("no knob '{}'", tensor.dtype_of));
  if (std::find(package.tuned.begin(), package.tuned.end(), knob->name) != package.tuned.end())
    throw f.error("dtype_of",
                  fmt::format("knob '{}' is tuned, so it cannot change a type", knob->name));
  for (const Value& value : knob->values)
    if (!std::holds_alternative<std::string>(value) ||
        !value_named<DType>(std::get<std::string>(value)))
      throw f.error("dtype_of", fmt::format("knob '{}' has a value that is not one of {}",
                                            knob->name, fmt::join(texts_of<DType>(), ", ")));
}

void read_fill(TableReader f, const std::vector<std::string>& dims, Tensor& tensor) {
  constexpr Fill::Kind kinds[] = {Fill::Kind::uniform, Fill::Kind::integers, Fill::Kind::offsets,
                                  Fill::Kind::constant};
  tensor.fill = kinds[f.one_of("kind", kFills)];
  switch (tensor.fill) {
    case Fill::Kind::uniform:
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

Tensor read_tensor(TableReader& f, const Package& package, const std::vector<std::string>& dims) {
  Tensor tensor;
  tensor.name = f.name("name");
  check_new(f, package.tensors, tensor.name);
  read_dtype(f, package, tensor);
  tensor.role = f.named<Role>("role");
  tensor.shape = read_expressions(f, "shape", dims);
  if (tensor.shape.size() > kMostRank)
    throw f.error("shape",
                  fmt::format("{} dims, at most {} are possible", tensor.shape.size(), kMostRank));
  if (f.has("fill")) read_fill(f.table("fill"), dims, tensor);
  const auto align = f.integer_in("align_bytes", 1, 1 << 20);
  tensor.align_bytes = static_cast<std::size_t>(align);
  if (!std::has_single_bit(tensor.align_bytes))
    throw f.error("align_bytes", fmt::format("{} is not a power of two", align));
  if (f.has("tolerance")) {
    TableReader t = f.table("tolerance");
    tensor.tolerance = Tolerance{t.number("abs"), t.number("rel")};
    if (tensor.tolerance->abs < 0) throw t.error("abs", "negative");
    if (tensor.tolerance->rel < 0) throw t.error("rel", "negative");
    t.done();
  }
  f.text("doc", "");
  f.done();
  return tensor;
}

// The names that expressions over knobs may use; all are distinct.
std::vector<std::string> knob_names(const TableReader& root, const Package& package) {
  std::vector<std::string> names;
  for (const auto& knob : package.knobs)
    for (const Value& value : knob.values) {
      const auto* text = std::get_if<std::string>(&value);
      std::string name = text != nullptr ? fmt::format("{}_is_{}", knob.name, *text) : knob.name;
      if (text == nullptr && &value != &knob.values.front()) continue;
      const bool taken =
          std::find(names.begin(), names.end(), name) != names.end() ||
          std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken) ||
          std::any_of(package.dims.begin(), package.dims.end(),
                      [&](const DimSpec& d) { return d.name == name; });
      if (taken)
        throw root.error(fmt::format("knob[{}]", knob.name),
                         fmt::format("'{}' is reserved in expressions", name));
      names.push_back(std::move(name));
    }
  return names;
}

void read_head(TableReader& root, Package& package) {
  root.integer_in("redzone_package", 1, 1);
  package.name = root.text("name");
  if (!is_target_name(package.name))
    throw root.error("name", fmt::format("'{}' is not of [a-z0-9_.]+", package.name));
  package.doc = root.text("doc", "");
  package.kernel = root.name("kernel");
  package.triton = root.text("triton");
  package.arch = static_cast<int>(root.integer_in("arch", 10, 999));
  package.reference = root.text("reference");
  package.deterministic = root.flag("deterministic");
}

}  // namespace

void read_description(TableReader& root, Package& package) {
  read_head(root, package);
  for (TableReader& f : root.tables("dim")) package.dims.push_back(read_dim(f, package.dims));
  for (TableReader& f : root.tables("knob"))
    package.knobs.push_back(read_knob(f, package.knobs, package.tuned));
  std::vector<std::string> dims;
  for (const auto& dim : package.dims) dims.push_back(dim.name);
  for (TableReader& f : root.tables("constraint"))
    package.constraints.push_back(read_constraint(f, package.dims));
  for (TableReader& f : root.tables("tensor"))
    package.tensors.push_back(read_tensor(f, package, dims));
  if (package.tensors.empty()) throw root.error("tensor", "missing");

  std::vector<std::string> numbers = knob_names(root, package);
  numbers.insert(numbers.end(), dims.begin(), dims.end());
  if (root.has("work")) package.work = read_expression(root, "work", numbers);
  for (TableReader& f : root.tables("argument"))
    package.arguments.push_back(read_argument(f, package, numbers));
  numbers.emplace_back("num_sms");
  package.grid = read_expressions(root, "grid", numbers);
  if (package.grid.size() != 3)
    throw root.error("grid",
                     fmt::format("{} expressions, three are expected", package.grid.size()));
}

}  // namespace redzone::package
