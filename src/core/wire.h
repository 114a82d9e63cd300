// Binary form of plans and observations for the pipe between driver and worker. Both ends are the
// same build; what is stored is the text form (plan_text.h). What is read may come from a worker
// that overwrote its memory: every value that decodes is one that its type has (bools are 0 or 1,
// enumerators are known, text is UTF-8). Whether it fits the plan is observation_check.h's.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/trial.h"
#include "core/utf8.h"

namespace redzone::wire {

// One archive class, used in both directions, so that writing and reading cannot disagree: each
// type has one `fields(archive, value)`.
class Archive {
 public:
  // Writes.
  Archive() = default;
  // Reads; `bytes` must outlive the archive.
  explicit Archive(std::string_view bytes) : input_(bytes), reading_(true) {}

  bool reading() const { return reading_; }
  // False once a read went past the end or met a value out of range. Reads then give zeros.
  bool ok() const { return ok_; }
  bool at_end() const { return position_ == input_.size(); }
  void fail() { ok_ = false; }
  std::string take() { return std::move(output_); }

  void bytes(void* data, std::size_t n) {
    if (!reading_) {
      output_.append(static_cast<const char*>(data), n);
    } else if (ok_ && input_.size() - position_ >= n) {
      std::memcpy(data, input_.data() + position_, n);
      position_ += n;
    } else {
      ok_ = false;
      std::memset(data, 0, n);
    }
  }

  template <class T>
  requires(std::is_arithmetic_v<T>) void field(T& v) { bytes(&v, sizeof v); }
  // Any other byte in a bool is undefined behaviour for whoever reads it.
  void field(bool& v) {
    std::uint8_t byte = v ? 1 : 0;
    bytes(&byte, sizeof byte);
    if (byte > 1) fail();
    v = byte == 1;
  }
  // An enumerator; another number makes the read fail. There is no other way to read one.
  template <class T>
  requires(NamedEnum<T>) void enumerated(T& v) {
    auto number = static_cast<std::underlying_type_t<T>>(v);
    bytes(&number, sizeof number);
    if (number >= enumerators<T>().size()) {
      number = 0;
      fail();
    }
    v = static_cast<T>(number);
  }
  void field(std::string& s) {
    std::uint32_t n = length(s.size(), 1);
    if (reading_) s.resize(n);
    bytes(s.data(), n);
    if (reading_) s = valid_utf8(s);
  }
  template <class T>
  void field(std::vector<T>& v) {
    const std::uint32_t n = length(v.size(), 1);
    if (!reading_) {
      for (auto& e : v) value(e);
      return;
    }
    // Grown as elements arrive: a wrong length must not cost many times the message.
    v.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) value(v.emplace_back());
  }
  template <class K, class V, class C>
  void field(std::map<K, V, C>& m) {
    const std::uint32_t n = length(m.size(), 2);
    if (!reading_) {
      for (auto& [k, v] : m) {
        K copy = k;
        value(copy);
        value(v);
      }
      return;
    }
    m.clear();
    for (std::uint32_t i = 0; i < n && ok_; ++i) {
      K k{};
      V v{};
      value(k);
      value(v);
      m.emplace(std::move(k), std::move(v));
    }
  }
  template <class T>
  void field(std::optional<T>& o) {
    bool has = o.has_value();
    field(has);
    if (reading_) o = has ? std::optional<T>(T{}) : std::nullopt;
    if (has) value(*o);
  }
  template <class... T>
  void field(std::variant<T...>& v) {
    std::uint8_t index = static_cast<std::uint8_t>(v.index());
    field(index);
    if (reading_) {
      if (index >= sizeof...(T)) return fail();
      emplace_alternative(v, index, std::index_sequence_for<T...>{});
    }
    std::visit([&](auto& x) { value(x); }, v);
  }

  template <class... T>
  void operator()(T&... values) {
    (value(values), ...);
  }

 private:
  template <class T>
  void value(T& v) {
    if constexpr (requires { fields(*this, v); })
      fields(*this, v);
    else
      field(v);
  }
  template <class V, std::size_t... I>
  static void emplace_alternative(V& v, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? void(v.template emplace<I>()) : void()), ...);
  }
  // A length, bounded when reading by the bytes that are left.
  std::uint32_t length(std::size_t n, std::size_t least_bytes_each) {
    auto v = static_cast<std::uint32_t>(n);
    field(v);
    if (reading_ && v > (input_.size() - position_) / least_bytes_each) {
      ok_ = false;
      v = 0;
    }
    return v;
  }

  std::string output_;
  std::string_view input_;
  std::size_t position_ = 0;
  bool reading_ = false;
  bool ok_ = true;
};

}  // namespace redzone::wire

namespace redzone {

// Found by argument-dependent lookup; `fields` of other modules' messages live beside the messages.
void fields(wire::Archive& a, Layout& v);
void fields(wire::Archive& a, Mode& v);
void fields(wire::Archive& a, Call& v);
void fields(wire::Archive& a, CallStep& v);
void fields(wire::Archive& a, SyncStep& v);
void fields(wire::Archive& a, WaitStep& v);
void fields(wire::Archive& a, ReplayStep& v);
void fields(wire::Archive& a, Plan& v);
void fields(wire::Archive& a, TrialSpec& v);
void fields(wire::Archive& a, Fault& v);
void fields(wire::Archive& a, BufferObservation& v);
void fields(wire::Archive& a, ReferenceObservation& v);
void fields(wire::Archive& a, LaunchObservation& v);
void fields(wire::Archive& a, ScratchObservation& v);
void fields(wire::Archive& a, EncodeObservation& v);
void fields(wire::Archive& a, CallObservation& v);
void fields(wire::Archive& a, SanitizerRecord& v);
void fields(wire::Archive& a, SanitizerReport& v);
void fields(wire::Archive& a, Observation& v);

namespace wire {

template <class T>
std::string encode(T value) {
  Archive a;
  fields(a, value);
  return a.take();
}

// A harness error when the bytes are short, long or out of range.
template <class T>
Result<T> decode(std::string_view bytes) {
  Archive a(bytes);
  T value{};
  fields(a, value);
  if (!a.ok() || !a.at_end()) return harness_error("malformed message");
  return value;
}

}  // namespace wire
}  // namespace redzone
