// Names of enumerators, as used in plans, stores, JSON and on the command line. An enumeration has
// one table, declared in its own namespace right after it:
//
//   constexpr auto enum_table(Launch) {
//     return enum_names<Launch>("launch mode", {{Launch::blocking, "blocking"}, ...});
//   }
//
// name_of(), value_named() and enumerators() read the table; so do the archives of wire and store,
// to check numbers. A table that omits an enumerator does not compile. When an enumerator is
// renamed, its first name goes into a second list and is still accepted.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/error.h"

namespace redzone {

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

template <class E, std::size_t N, std::size_t First>
struct EnumTable {
  std::string_view what;                      // "launch mode"; for errors
  std::array<EnumName<E>, N> names = {};      // in the order in which errors list them
  std::array<EnumName<E>, First> first = {};  // former first names of renamed enumerators
};

// Whether V is an enumerator. Compilers print other values of the type as a cast.
template <class E, E V>
consteval bool is_enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  return text[text.rfind("V = ") + 4] != '(';
}

// For enumerations whose enumerators are numbered from 0 without gaps.
template <class E, std::size_t N, std::size_t First>
consteval EnumTable<E, N, First> enum_names(std::string_view what, const EnumName<E> (&names)[N],
                                            const std::array<EnumName<E>, First>& first) {
  static_assert(!is_enumerator<E, static_cast<E>(N)>(), "an enumerator has no name");
  EnumTable<E, N, First> table{what};
  table.first = first;
  std::array<bool, N> named{};
  for (std::size_t i = 0; i < N; ++i) {
    table.names[i] = names[i];
    auto& once = named.at(static_cast<std::size_t>(names[i].value));
    if (once) throw "an enumerator has two names";
    once = true;
  }
  return table;
}

template <class E, std::size_t N>
consteval EnumTable<E, N, 0> enum_names(std::string_view what, const EnumName<E> (&names)[N]) {
  return enum_names<E>(what, names, std::array<EnumName<E>, 0>{});
}

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires {
  enum_table(E{});
};

template <NamedEnum E>
inline constexpr auto kEnumTable = enum_table(E{});

template <NamedEnum E>
std::string_view name_of(E value) {
  for (const auto& entry : kEnumTable<E>.names)
    if (entry.value == value) return entry.name;
  RZ_CHECK(false && "no enumerator");
  return "";
}

// Lets test frameworks print the name in failure messages.
template <NamedEnum E>
std::ostream& operator<<(std::ostream& out, E value) {
  return out << name_of(value);
}

// The name of the enumerator before any renaming. For hashes, which must not change with names.
template <NamedEnum E>
std::string_view first_name_of(E value) {
  for (const auto& entry : kEnumTable<E>.first)
    if (entry.value == value) return entry.name;
  return name_of(value);
}

// Accepts the current or the first name; nothing if unknown.
template <NamedEnum E>
std::optional<E> value_named(std::string_view name) {
  for (const auto& entry : kEnumTable<E>.names)
    if (entry.name == name) return entry.value;
  for (const auto& entry : kEnumTable<E>.first)
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

// Names, in the order of the table.
template <NamedEnum E>
constexpr auto texts_of() {
  std::array<std::string_view, kEnumTable<E>.names.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kEnumTable<E>.names[i].name;
  return out;
}

// All enumerators, in numeric order.
template <NamedEnum E>
constexpr auto enumerators() {
  std::array<E, kEnumTable<E>.names.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<E>(i);
  return out;
}

}  // namespace redzone
