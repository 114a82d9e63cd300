#include "store/observation_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/plan_text.h"
#include "core/spec_names.h"

namespace redzone::store {
namespace {

using Json = nlohmann::ordered_json;

// One JSON object, in either direction: each type has one `members(object, value)`, found through
// argument-dependent lookup, so that writing and reading cannot disagree.
class Object {
 public:
  Object() : json_(Json::object()) {}
  explicit Object(const Json& json) : json_(json), reading_(true) {
    if (!json.is_object()) throw std::invalid_argument("an object is missing");
  }
  Json take() { return std::move(json_); }

  template <class T>
  void operator()(const char* key, T& value) {
    if (!reading_)
      json_[key] = encode(value);
    else
      decode(json_.at(key), value);
  }
  // Left out while it is T{}, which must be the member's default.
  template <class T>
  void sparse(const char* key, T& value) {
    if (reading_ ? json_.contains(key) : !(value == T{})) (*this)(key, value);
  }
  // Reading, and the member is there.
  bool has(const char* key) const { return reading_ && json_.contains(key); }
  template <NamedEnum E>
  void named(const char* key, E& value) {
    std::string text(name_of(value));
    (*this)(key, text);
    const auto known = value_named<E>(text);
    if (!known) throw std::invalid_argument(fmt::format("unknown {} '{}'", key, text));
    value = *known;
  }
  template <std::size_t N>
  void array(const char* key, std::int64_t (&values)[N]) {
    std::vector<std::int64_t> list(values, values + N);
    (*this)(key, list);
    if (list.size() != N) throw std::invalid_argument(fmt::format("{} needs {} numbers", key, N));
    std::copy(list.begin(), list.end(), values);
  }

 private:
  template <class T>
  static Json encode(T& value) {
    if constexpr (requires(Object & o) { members(o, value); }) {
      Object object;
      members(object, value);
      return object.take();
    } else if constexpr (std::is_same_v<T, double>) {
      // JSON has no NaN and no infinity.
      return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
    } else {
      return Json(value);
    }
  }
  template <class T>
  static Json encode(std::vector<T>& values) {
    Json array = Json::array();
    for (auto& value : values) array.push_back(encode(value));
    return array;
  }
  template <class T>
  static Json encode(std::optional<T>& value) {
    return encode(*value);
  }

  template <class T>
  static void decode(const Json& json, T& value) {
    if constexpr (requires(Object & o) { members(o, value); }) {
      Object object(json);
      members(object, value);
    } else if constexpr (std::is_same_v<T, double>) {
      value = json.is_string() ? std::strtod(json.get_ref<const std::string&>().c_str(), nullptr)
                               : json.get<double>();
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // Before it is converted: nlohmann casts whatever number it is.
      if (!json.is_number_integer() ||
          !(json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                      : std::in_range<T>(json.get<std::int64_t>())))
        throw std::invalid_argument(fmt::format("{} is no number of its kind", json.dump()));
      json.get_to(value);
    } else {
      json.get_to(value);
    }
  }
  template <class T>
  static void decode(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) throw std::invalid_argument("a list is missing");
    values.clear();
    for (const Json& element : json) decode(element, values.emplace_back());
  }
  template <class T>
  static void decode(const Json& json, std::optional<T>& value) {
    decode(json, value.emplace());
  }

  Json json_;
  bool reading_ = false;
};

void members(Object& o, Fault& v) {
  o("code", v.code);
  o("call", v.call);
  o.sparse("kernel", v.kernel);
  o.sparse("buffer", v.buffer);
  o.named("side", v.side);
  o.named("access", v.access);
  o.sparse("distance_bytes", v.distance_bytes);
  o.sparse("detail", v.detail);
  o.sparse("known_by", v.known_by);
}

void members(Object& o, BufferObservation& v) {
  o("name", v.name);
  o.named("role", v.role);
  o.sparse("scratch", v.scratch);
  o("digest", v.digest);
  o("numel", v.numel);
  o.sparse("dirty_before", v.dirty_before);
  o.sparse("dirty_after", v.dirty_after);
  o.sparse("dirty_gaps", v.dirty_gaps);
  o.sparse("changed", v.changed);
  o.sparse("first_dirty_byte", v.first_dirty_byte);
}

void members(Object& o, ReferenceObservation& v) {
  o("tensor", v.tensor);
  o("numel", v.numel);
  o("mismatches", v.mismatches);
  o("first_index", v.first_index);
  o("got", v.got);
  o("want", v.want);
  o("worst", v.worst);
}

void members(Object& o, LaunchObservation& v) {
  o("kernel", v.kernel);
  o.array("grid", v.grid);
  o.array("block", v.block);
  o.sparse("shared_bytes", v.shared_bytes);
}

void members(Object& o, ScratchObservation& v) {
  o("name", v.name);
  o("bytes", v.bytes);
  o("align", v.align);
  o("bytes_per_cta", v.bytes_per_cta);
  o.array("grid", v.grid);
  o("num_ctas", v.num_ctas);
  o("need_align", v.need_align);
}

void members(Object& o, CallObservation& v) {
  o("call", v.call);
  o.sparse("buffers", v.buffers);
  o.sparse("references", v.references);
  o.sparse("launches", v.launches);
  o.sparse("scratch", v.scratch);
  if (o.has("comparison") || v.comparison != Comparison::none) o.named("comparison", v.comparison);
  o.sparse("reference_us", v.reference_us);
}

void members(Object& o, EncodeObservation& v) {
  o("call", v.call);
  o("name", v.name);
  o("code", v.code);
  o.sparse("rule", v.rule);
  o("dim", v.dim);
  o.sparse("degenerate", v.degenerate);
  o.sparse("text", v.text);
}

void members(Object& o, SanitizerRecord& v) {
  o("kind", v.kind);
  o.sparse("warning", v.warning);
  o.sparse("space", v.space);
  o.named("access", v.access);
  o.sparse("size_bytes", v.size_bytes);
  o.sparse("kernel", v.kernel);
  o("call", v.call);
  o.sparse("buffer", v.buffer);
  o.named("side", v.side);
  o.sparse("distance_bytes", v.distance_bytes);
  o.sparse("address", v.address);
  o.sparse("thread", v.thread);
  o.sparse("block", v.block);
  o.sparse("location", v.location);
  o.sparse("text", v.text);
  o("count", v.count);
}

void members(Object& o, SanitizerReport& v) {
  o.named("tool", v.tool);
  o("records", v.records);
  o.sparse("dropped", v.dropped);
  o.sparse("problem", v.problem);
}

void members(Object& o, Observation& v) {
  o.named("end", v.end);
  o.sparse("message", v.message);
  o.sparse("fault", v.fault);
  o.sparse("calls", v.calls);
  o.sparse("encodes", v.encodes);
  o("wall_us", v.wall_us);
  o.sparse("mapping_calls", v.mapping_calls);
  o.sparse("bytes", v.bytes);
  o.sparse("sanitizer", v.sanitizer);
}

}  // namespace

std::string print_observation(const Observation& observation) {
  Observation copy = observation;
  Object object;
  members(object, copy);
  return object.take().dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Observation> parse_observation(std::string_view text, std::string_view where) {
  try {
    Observation observation;
    Object object(parse_json_text<Json>(text));
    members(object, observation);
    return observation;
  } catch (const std::exception& e) {
    return harness_error(fmt::format("{}: not an observation: {}", where, e.what()));
  }
}

}  // namespace redzone::store
