#include "package/package.h"

#include <fmt/format.h>

#include "core/error.h"

namespace redzone::package {
namespace {

// Texts are prefixed with their length, so that different lists of parts have different keys.
void append(std::string& key, const std::string& text) {
  key += fmt::format("{}:{};", text.size(), text);
}
void append(std::string& key, std::int64_t number) {
  key += fmt::format("{};", number);
}
void append(std::string& key, double number) {
  key += fmt::format("{:a};", number);
}

template <class... T>
void append(std::string& key, const std::variant<T...>& value) {
  std::visit([&](const auto& v) { append(key, v); }, value);
}

}  // namespace

std::string text_of(const Constant& constant) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, constant);
}

std::string variant_key(const Package& package, const Config& knobs,
                        const std::vector<Constant>& constants,
                        const std::vector<std::optional<Class>>& classes) {
  std::string key;
  for (const auto& knob : package.knobs) append(key, knobs.find(knob.name)->second);
  for (const auto& constant : constants) append(key, constant);
  for (std::size_t i = 0; i < package.arguments.size(); ++i)
    if (package.arguments[i].kind == Argument::Kind::integer && classes[i])
      append(key, static_cast<std::int64_t>(*classes[i]));
  return key;
}

std::vector<std::size_t> parameter_bytes(const Package& package, const Variant& variant) {
  std::vector<std::size_t> bytes;
  for (const std::size_t i : variant.passed) {
    const Argument& argument = package.arguments[i];
    bytes.push_back(argument.kind == Argument::Kind::tensor ? sizeof(void*)
                                                            : argument.type.bytes());
  }
  bytes.insert(bytes.end(), 2, sizeof(void*));
  return bytes;
}

bool holds(const Scalar& type, std::int64_t value) {
  if (type.bits == 1) return value == 0 || value == 1;
  if (type.kind == Scalar::Kind::unsigned_integer)
    return value >= 0 && (type.bits >= 63 || value < std::int64_t{1} << type.bits);
  if (type.bits == 64) return true;
  const std::int64_t half = std::int64_t{1} << (type.bits - 1);
  return value >= -half && value < half;
}

std::string name_of(const Scalar& type) {
  return fmt::format("{}{}", type.kind == Scalar::Kind::unsigned_integer ? "u" : "i", type.bits);
}

}  // namespace redzone::package
