#include "package/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/spec_names.h"
#include "described/read_expression.h"
#include "package/description.h"

namespace redzone::package {
namespace {

using std::string_view;

constexpr string_view kKinds[] = {"tensor", "int", "float", "constexpr", "descriptor"};

// Type names of Triton's signatures.
constexpr string_view kIntegers[] = {"i1", "i8", "i16", "i32", "i64",
                                     "u1", "u8", "u16", "u32", "u64"};
constexpr string_view kReals[] = {"fp16", "bf16", "fp32", "fp64"};

Scalar integer_type(TableReader& f) {
  const string_view name = kIntegers[f.one_of("type", kIntegers)];
  Scalar type;
  type.kind = name.front() == 'u' ? Scalar::Kind::unsigned_integer : Scalar::Kind::signed_integer;
  type.bits = std::stoi(std::string(name.substr(1)));
  return type;
}

Scalar real_type(TableReader& f) {
  const string_view name = kReals[f.one_of("type", kReals)];
  Scalar type;
  type.kind = name == "bf16" ? Scalar::Kind::brain_real : Scalar::Kind::real;
  type.bits = name == "fp64" ? 64 : name == "fp32" ? 32 : 16;
  return type;
}

std::size_t tensor_of(TableReader& f, const Package& package) {
  const std::string name = f.text("value");
  const auto it = std::find_if(package.tensors.begin(), package.tensors.end(),
                               [&](const Tensor& t) { return t.name == name; });
  if (it == package.tensors.end()) throw f.error("value", fmt::format("no tensor '{}'", name));
  return static_cast<std::size_t>(it - package.tensors.begin());
}

// Checks that "type" is the tensor's, such as "*fp16", or "*" if the element type is a knob.
void check_pointer(TableReader& f, const Tensor& tensor) {
  constexpr std::pair<DType, string_view> names[] = {
      {DType::f64, "*fp64"},   {DType::f32, "*fp32"},       {DType::f16, "*fp16"},
      {DType::bf16, "*bf16"},  {DType::i64, "*i64"},        {DType::i32, "*i32"},
      {DType::u32, "*u32"},    {DType::i8, "*i8"},          {DType::u8, "*u8"},
      {DType::boolean, "*i1"}, {DType::i16, "*i16"},        {DType::u16, "*u16"},
      {DType::u64, "*u64"},    {DType::f8e4m3, "*fp8e4nv"}, {DType::f8e5m2, "*fp8e5"}};
  string_view expected = "*";
  if (tensor.dtype_of.empty()) {
    const auto known = std::find_if(std::begin(names), std::end(names),
                                    [&](const auto& entry) { return entry.first == tensor.dtype; });
    RZ_CHECK(known != std::end(names));  // descriptions of packages have no other types
    expected = known->second;
  }
  if (const auto given = f.text("type"); given != expected)
    throw f.error("type",
                  fmt::format("'{}', but tensor '{}' is '{}'", given, tensor.name, expected));
}

void read_constant(TableReader& f, const Package& package, const std::vector<std::string>& numbers,
                   Argument& argument) {
  const Node& node = f.any("value");
  if (const auto* flag = std::get_if<bool>(&node.value)) {
    argument.plain = std::int64_t{*flag};
  } else if (const auto* real = std::get_if<double>(&node.value)) {
    if (!std::isfinite(*real)) throw f.error("value", "not finite");
    argument.plain = *real;
  } else {
    const auto* text = std::get_if<std::string>(&node.value);
    const auto knob =
        std::find_if(package.knobs.begin(), package.knobs.end(), [&](const KnobSpec& k) {
          return text != nullptr && k.name == *text &&
                 std::holds_alternative<std::string>(k.values.front());
        });
    if (knob != package.knobs.end())
      argument.knob = knob->name;
    else
      argument.value = described::read_expression(f, "value", numbers);
  }
}

}  // namespace

Argument read_argument(TableReader& f, const Package& package,
                       const std::vector<std::string>& numbers) {
  Argument argument;
  argument.name = f.name("name");
  for (const auto& before : package.arguments)
    if (before.name == argument.name)
      throw f.error("name", fmt::format("'{}' is declared twice", argument.name));
  switch (f.one_of("kind", kKinds)) {
    case 0:
      argument.kind = Argument::Kind::tensor;
      argument.tensor = tensor_of(f, package);
      check_pointer(f, package.tensors[argument.tensor]);
      break;
    case 1:
      argument.kind = Argument::Kind::integer;
      argument.type = integer_type(f);
      argument.value = described::read_expression(f, "value", numbers);
      break;
    case 2:
      argument.kind = Argument::Kind::real;
      argument.type = real_type(f);
      if (const auto* real = std::get_if<double>(&f.any("value").value)) {
        if (!std::isfinite(*real)) throw f.error("value", "not finite");
        argument.plain = *real;
      } else {
        argument.value = described::read_expression(f, "value", numbers);
      }
      break;
    case 3:
      argument.kind = Argument::Kind::constant;
      read_constant(f, package, numbers, argument);
      break;
    default:
      throw f.error("kind", "descriptors that the host encodes cannot be launched by this version");
  }
  f.done();
  return argument;
}

}  // namespace redzone::package
