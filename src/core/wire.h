// Binary form of plans and observations for the pipe between driver and worker: the members of each
// struct in the order of its table (field_table.h). Both ends are the same build; stores use the
// text form (plan_text.h). The input may come from a worker that overwrote its memory: every
// decoded value is valid for its type (bools are 0 or 1, enumerators are known, text is UTF-8).
// observation_check.h checks whether the values fit the plan.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"
#include "core/field_table.h"
#include "core/observation_fields.h"
#include "core/plan_fields.h"
#include "core/spec_names.h"
#include "core/utf8.h"

namespace redzone::wire {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

class Writer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(output_); }

 private:
  void put(Number auto v) { output_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void put(std::same_as<bool> auto v) { output_ += v ? '\1' : '\0'; }
  template <NamedEnum E>
  void put(E v) {
    put(static_cast<std::underlying_type_t<E>>(v));
  }
  void put(const std::string& s) {
    length(s.size());
    output_ += s;
  }
  template <class T, std::size_t N>
  void put(const T (&values)[N]) {
    for (const auto& e : values) put(e);
  }
  template <class T>
  void put(const std::vector<T>& v) {
    length(v.size());
    for (const auto& e : v) put(e);
  }
  template <class K, class V, class C>
  void put(const std::map<K, V, C>& m) {
    length(m.size());
    for (const auto& [k, v] : m) (*this)(k, v);
  }
  template <class T>
  void put(const std::optional<T>& o) {
    put(o.has_value());
    if (o) put(*o);
  }
  template <class... T>
  void put(const std::variant<T...>& v) {
    put(static_cast<std::uint8_t>(v.index()));
    std::visit([&](const auto& x) { put(x); }, v);
  }
  template <HasFields T>
  void put(const T& v) {
    each_field(v, [&](const auto&, const auto& member) { put(member); });
  }
  void length(std::size_t n) { put(static_cast<std::uint32_t>(n)); }

  std::string output_;
};

class Reader {
 public:
  // `bytes` must outlive the reader.
  explicit Reader(std::string_view bytes) : input_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  // False after a read went past the end or met a value out of range. Later reads yield zeros.
  bool ok() const { return ok_; }
  bool at_end() const { return position_ == input_.size(); }

 private:
  void get(Number auto& v) {
    v = {};
    if (input_.size() - position_ < sizeof v) ok_ = false;
    if (!ok_) return;
    std::memcpy(&v, input_.data() + position_, sizeof v);
    position_ += sizeof v;
  }
  // Reading a bool with any other byte is undefined behavior.
  void get(bool& v) { v = number_below(std::uint8_t{2}) == 1; }
  // The only function that reads enumerators, so each is checked.
  template <NamedEnum E>
  void get(E& v) {
    using Number = std::underlying_type_t<E>;
    v = static_cast<E>(number_below(static_cast<Number>(enumerators<E>().size())));
  }
  void get(std::string& s) {
    const std::uint32_t n = length(1);
    s = valid_utf8(input_.substr(position_, n));
    position_ += n;
  }
  template <class T, std::size_t N>
  void get(T (&values)[N]) {
    for (auto& e : values) get(e);
  }
  // Grows as elements arrive, so that a wrong length does not cost many times the message's size.
  template <class T>
  void get(std::vector<T>& v) {
    const std::uint32_t n = length(1);
    v.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) get(v.emplace_back());
  }
  template <class K, class V, class C>
  void get(std::map<K, V, C>& m) {
    const std::uint32_t n = length(2);
    m.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      K k{};
      V v{};
      (*this)(k, v);
      m.emplace(std::move(k), std::move(v));
    }
  }
  template <class T>
  void get(std::optional<T>& o) {
    bool has = false;
    get(has);
    if (!has) return o.reset();
    T value{};
    get(value);
    o = std::move(value);
  }
  template <class... T>
  void get(std::variant<T...>& v) {
    const auto index = number_below(static_cast<std::uint8_t>(sizeof...(T)));
    emplace_alternative(v, index, std::index_sequence_for<T...>{});
    std::visit([&](auto& x) { get(x); }, v);
  }
  template <HasFields T>
  void get(T& v) {
    each_field(v, [&](const auto&, auto& member) { get(member); });
  }

  template <class V, std::size_t... I>
  static void emplace_alternative(V& v, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? void(v.template emplace<I>()) : void()), ...);
  }
  // The number, or 0 and an error if it is not below `limit`.
  template <class N>
  N number_below(N limit) {
    N n = 0;
    get(n);
    if (n >= limit) ok_ = false;
    return ok_ ? n : N{0};
  }
  // A length, bounded by the number of bytes that remain.
  std::uint32_t length(std::size_t least_bytes_each) {
    std::uint32_t n = 0;
    get(n);
    if (n > (input_.size() - position_) / least_bytes_each) ok_ = false;
    return ok_ ? n : 0;
  }

  std::string_view input_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

template <class T>
std::string encode(const T& value) {
  Writer writer;
  writer(value);
  return writer.take();
}

// A harness error if the bytes are too short, too long or out of range.
template <class T>
Result<T> decode(std::string_view bytes) {
  Reader reader(bytes);
  T value{};
  reader(value);
  if (!reader.ok() || !reader.at_end()) return harness_error("malformed message");
  return value;
}

}  // namespace redzone::wire
