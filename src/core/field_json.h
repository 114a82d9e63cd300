// JSON of structs by their field tables (field_table.h): an object with the names of the table, in
// its order; enumerators are written as their names. Doubles without a JSON number are strings:
// "nan", "inf", "-inf".
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "core/field_table.h"
#include "core/json.h"

namespace redzone {

// Whether sparse members that hold their default are written.
enum class Defaults : std::uint8_t { left_out, written };

class FieldJson {
 public:
  using Json = nlohmann::ordered_json;

  template <class T>
  static Json of(const T& value, Defaults defaults) {
    if constexpr (HasFields<T>) {
      Json object = Json::object();
      each_field(value, [&](const auto& field, const auto& member) {
        if (defaults == Defaults::written || !is_left_out(field, member))
          object[field.name] = of(member, defaults);
      });
      return object;
    } else if constexpr (NamedEnum<T>) {
      return Json(name_of(value));
    } else if constexpr (std::is_same_v<T, double>) {
      return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
    } else {
      return Json(value);
    }
  }
  template <class T, std::size_t N>
  static Json of(const T (&values)[N], Defaults defaults) {
    return list(values, defaults);
  }
  template <class T>
  static Json of(const std::vector<T>& values, Defaults defaults) {
    return list(values, defaults);
  }
  // null if the optional is empty.
  template <class T>
  static Json of(const std::optional<T>& value, Defaults defaults) {
    return value ? of(*value, defaults) : Json();
  }

  // Throws std::exception with a description of the error. A sparse member that the object lacks
  // keeps its value; names that the table does not have are ignored.
  template <class T>
  static void read(const Json& json, T& value) {
    read(json, value, "");
  }

 private:
  template <class T, class M, Stored kStored>
  static bool is_left_out(const Field<T, M, kStored>&, const M& member) {
    static_assert(kStored != Stored::never, "a member without a name has no JSON");
    if constexpr (kStored == Stored::unless_default) return member == M{};
    return false;
  }
  template <class Range>
  static Json list(const Range& values, Defaults defaults) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(of(value, defaults));
    return array;
  }

  // `name` is the name of the member, for errors.
  template <class T>
  static void read(const Json& json, T& value, const char* name) {
    if constexpr (HasFields<T>) {
      if (!json.is_object()) throw std::invalid_argument("an object is missing");
      each_field(value, [&]<class M, Stored kStored>(const Field<T, M, kStored>& field, M& member) {
        if (kStored == Stored::unless_default && !json.contains(field.name)) return;
        read(json.at(field.name), member, field.name);
      });
    } else if constexpr (NamedEnum<T>) {
      const auto text = json.get<std::string>();
      const auto known = value_named<T>(text);
      if (!known) throw std::invalid_argument(fmt::format("unknown {} '{}'", name, text));
      value = *known;
    } else if constexpr (std::is_same_v<T, double>) {
      value = json.is_string() ? std::strtod(json.get_ref<const std::string&>().c_str(), nullptr)
                               : json.get<double>();
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // The range is checked before the conversion, because nlohmann casts any number.
      if (!json.is_number_integer() ||
          !(json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                      : std::in_range<T>(json.get<std::int64_t>())))
        throw std::invalid_argument(fmt::format("{} is out of range for its type", json.dump()));
      json.get_to(value);
    } else {
      json.get_to(value);
    }
  }
  template <class T, std::size_t N>
  static void read(const Json& json, T (&values)[N], const char* name) {
    std::vector<T> list;
    read(json, list, name);
    if (list.size() != N) throw std::invalid_argument(fmt::format("{} needs {} numbers", name, N));
    std::copy(list.begin(), list.end(), values);
  }
  template <class T>
  static void read(const Json& json, std::vector<T>& values, const char* name) {
    if (!json.is_array()) throw std::invalid_argument("a list is missing");
    values.clear();
    for (const Json& element : json) read(element, values.emplace_back(), name);
  }
  template <class T>
  static void read(const Json& json, std::optional<T>& value, const char* name) {
    read(json, value.emplace(), name);
  }
};

}  // namespace redzone
