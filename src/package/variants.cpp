#include "package/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/plan_text.h"
#include "package/metadata.h"

namespace redzone::package {
namespace {

constexpr std::size_t kMostVariants = 1 << 16;

std::string read_file_name(TableReader& f) {
  std::string name = f.text("file");
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), allowed))
    throw f.error("file", fmt::format("'{}' is not a file name", name));
  return name;
}

void read_knobs(TableReader f, const Package& package, Variant& variant) {
  for (const auto& knob : package.knobs) {
    Value value = f.value(knob.name);
    if (std::find(knob.values.begin(), knob.values.end(), value) == knob.values.end())
      throw f.error(knob.name, fmt::format("{} is not a value of the knob", print_value(value)));
    variant.knobs.emplace(knob.name, std::move(value));
  }
  f.done();
}

void read_constants(TableReader f, const Package& package, Variant& variant) {
  for (const auto& argument : package.arguments) {
    if (argument.kind != Argument::Kind::constant) continue;
    const Node& node = f.any(argument.name);
    if (const auto* flag = std::get_if<bool>(&node.value))
      variant.constants.emplace_back(std::int64_t{*flag});
    else if (const auto* number = std::get_if<std::int64_t>(&node.value))
      variant.constants.emplace_back(*number);
    else if (const auto* real = std::get_if<double>(&node.value))
      variant.constants.emplace_back(*real);
    else if (const auto* text = std::get_if<std::string>(&node.value))
      variant.constants.emplace_back(*text);
    else
      throw f.error(argument.name, "a number or a string is expected");
  }
  f.done();
}

// The value of an argument if only the knobs are known; nullopt if it depends on dims.
std::optional<Constant> value_under(const Package& package, const Argument& argument,
                                    const Config& knobs) {
  if (!argument.knob.empty()) return std::get<std::string>(knobs.find(argument.knob)->second);
  if (!argument.value) return argument.plain;
  const auto& names = argument.value->names();
  if (std::any_of(package.dims.begin(), package.dims.end(), [&](const DimSpec& dim) {
        return std::find(names.begin(), names.end(), dim.name) != names.end();
      }))
    return std::nullopt;
  Values values;
  described::add_knobs(values, package.knobs, knobs);
  const auto value = argument.value->value(values);
  if (!value) return std::nullopt;
  return *value;
}

// Rejects a variant whose constants do not follow from its knobs, because it would never be
// launched.
void check_constants(const TableReader& f, const Package& package, const Variant& variant) {
  auto constant = variant.constants.begin();
  for (const auto& argument : package.arguments) {
    if (argument.kind != Argument::Kind::constant) continue;
    const auto expected = value_under(package, argument, variant.knobs);
    if (expected && *expected != *constant)
      throw f.error(fmt::format("constants.{}", argument.name),
                    fmt::format("{}, but the argument comes to {} under these knobs",
                                text_of(*constant), text_of(*expected)));
    ++constant;
  }
}

void read_classes(TableReader f, const Package& package, Variant& variant) {
  variant.classes.resize(package.arguments.size());
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const auto& argument = package.arguments[i];
    if (!f.has(argument.name)) continue;
    const bool address = argument.kind == Argument::Kind::tensor;
    if (!address && argument.kind != Argument::Kind::integer)
      throw f.error(argument.name, "neither a tensor nor an integer, so it has no class");
    const auto c = enumerators<Class>()[f.one_of(argument.name, texts_of<Class>())];
    if (address && c == Class::one)
      throw f.error(argument.name, "an address is never of class '1'");
    variant.classes[i] = c;
  }
  f.done();
}

// Reads the arguments that the compiled kernel does not receive: constants, and integers of class
// '1'.
void read_dropped(TableReader& f, const Package& package, Variant& variant) {
  auto dropped = f.texts("dropped");
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const auto& argument = package.arguments[i];
    const auto it = std::find(dropped.begin(), dropped.end(), argument.name);
    const bool is_dropped = it != dropped.end();
    if (is_dropped) dropped.erase(it);
    const bool expected =
        argument.kind == Argument::Kind::constant || variant.classes[i] == Class::one;
    if (is_dropped && !expected)
      throw f.error("dropped",
                    fmt::format("'{}' is neither constexpr nor of class '1'", argument.name));
    if (!is_dropped && expected)
      throw f.error("dropped", fmt::format("'{}' is missing: it is {}", argument.name,
                                           variant.classes[i] ? "of class '1'" : "constexpr"));
    if (!is_dropped) variant.passed.push_back(i);
  }
  if (!dropped.empty())
    throw f.error("dropped",
                  fmt::format("'{}' is not an argument, or is listed twice", dropped.front()));
}

void check_metadata(const TableReader& f, const Package& package, const Variant& variant) {
  const Compiled& compiled = package.compiled[variant.compiled];
  const std::pair<const char*, std::int64_t> said[] = {
      {"num_ctas", compiled.ctas},
      {"launch_pdl", compiled.dependent},
      {"launch_cooperative_grid", compiled.cooperative}};
  for (const auto& [knob, is] : said)
    if (const auto it = variant.knobs.find(knob);
        it != variant.knobs.end() && it->second != Value(is))
      throw f.error(
          fmt::format("knobs.{}", knob),
          fmt::format("{}, but {} in cubin/{}.json", print_value(it->second), is, compiled.file));
}

void check_parameters(const Package& package, const Variant& variant) {
  const Compiled& compiled = package.compiled[variant.compiled];
  const auto expected = parameter_bytes(package, variant);
  const auto& has = compiled.facts.parameter_bytes;
  const auto file = package.folder / "cubin" / (compiled.file + ".cubin");
  if (has.size() != expected.size())
    throw FieldError(fmt::format("{}: parameters: the kernel has {}, target.toml gives it {}",
                                 file.string(), has.size(), expected.size()));
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i] != expected[i])
      throw FieldError(fmt::format("{}: parameters[{}]: has {} bytes, target.toml gives it {}",
                                   file.string(), i, has[i], expected[i]));
}

// Checks that an argument is specialized in all variants or in none.
void check_specialized(const TableReader& f, Package& package, const Variant& variant) {
  const bool first = package.variants.empty();
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const bool specialized = variant.classes[i].has_value();
    if (first) package.arguments[i].specialized = specialized;
    if (package.arguments[i].specialized != specialized)
      throw f.error(fmt::format("classes.{}", package.arguments[i].name),
                    specialized ? "given here, but not for the first variant"
                                : "missing, but given for the first variant");
  }
}

void add_variant(const TableReader& f, Package& package, Variant variant) {
  auto& alike =
      package.by_key[variant_key(package, variant.knobs, variant.constants, variant.classes)];
  for (const std::size_t other : alike)
    if (package.variants[other].classes == variant.classes)
      throw f.error("", fmt::format("serves the same calls as variant[{}]", other));
  alike.push_back(package.variants.size());
  package.variants.push_back(std::move(variant));
}

// Rejects a knob value without a variant, because it could never be launched.
void check_knobs(const TableReader& root, const Package& package) {
  for (const auto& knob : package.knobs)
    for (const Value& value : knob.values)
      if (std::none_of(package.variants.begin(), package.variants.end(),
                       [&](const Variant& v) { return v.knobs.find(knob.name)->second == value; }))
        throw root.error(fmt::format("knob[{}].values", knob.name),
                         fmt::format("no variant is for {}", print_value(value)));
}

}  // namespace

void read_variants(TableReader& root, Package& package, std::string& all_bytes) {
  std::map<std::string, std::size_t> known;
  const auto tables = root.tables("variant");
  if (tables.empty()) throw root.error("variant", "missing");
  if (tables.size() > kMostVariants)
    throw root.error("variant",
                     fmt::format("{}, at most {} are read", tables.size(), kMostVariants));
  for (TableReader f : tables) {
    Variant variant;
    const std::string file = read_file_name(f);
    read_knobs(f.table("knobs"), package, variant);
    read_constants(f.table("constants"), package, variant);
    check_constants(f, package, variant);
    read_classes(f.table("classes"), package, variant);
    read_dropped(f, package, variant);
    f.done();
    const auto [it, is_new] = known.emplace(file, package.compiled.size());
    if (is_new) package.compiled.push_back(read_compiled(package, file, all_bytes));
    variant.compiled = it->second;
    check_metadata(f, package, variant);
    check_parameters(package, variant);
    check_specialized(f, package, variant);
    add_variant(f, package, std::move(variant));
  }
  check_knobs(root, package);
}

}  // namespace redzone::package
