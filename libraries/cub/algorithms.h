// Common parts of the targets for CUB's device-wide algorithms. CUB is a header-only library, so
// nvcc compiles these targets; the build for the host device contains only their specs.
//
// Every algorithm is called twice, as its documentation requires: for the size of its temporary
// storage, and with exactly that number of bytes.
#pragma once

#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/routine.h"
#include "common/spec_parts.h"

namespace redzone::libraries::cub_targets {

// Maximum number of items in one call, and in one that sums items of type T: f32 sums are exact
// below 2^24.
inline constexpr std::int64_t kMostItems = std::int64_t{1} << 26;
template <class T>
constexpr std::int64_t kMostSummed = std::is_same_v<T, float> ? std::int64_t{1} << 22 : kMostItems;

inline DimSpec items() {
  return dim("N", 0, kMostItems, "items", 256);
}

inline LayoutRules slice_of_storage() {
  LayoutRules rules;
  rules.offset = true;
  return rules;
}

inline TensorSpec row(std::string name, DType dtype, Role role,
                      std::function<std::int64_t(const Dims&)> size) {
  return tensor(
      std::move(name), dtype, role,
      [size = std::move(size)](const Dims& d) { return Shape{size(d)}; }, slice_of_storage());
}
inline TensorSpec row(std::string name, DType dtype, Role role, std::string size) {
  return row(std::move(name), dtype, role,
             [size = std::move(size)](const Dims& d) { return get(d, size); });
}
inline TensorSpec numbers_of(std::string name, DType dtype, std::string size) {
  return row(std::move(name), dtype, Role::in, std::move(size));
}

inline Routine routine_of(std::string name, std::string doc) {
  Routine r;
  r.spec.name = "cub." + std::move(name);
  r.spec.doc = std::move(doc);
  r.spec.dims = {items()};
  r.spec.knobs = {numbers("count", {32, 64}, "bits of the type of the number of items")};
  r.spec.tolerance = {0, 0};
  r.spec.has_reference = true;
  r.spec.work = [](const Dims& d, const Config&) { return 4 * as_double(get(d, "N")) + 256; };
  return r;
}

inline std::string never_missing() {
  return "";
}

// An element type and its name in targets.
template <class T>
struct Item;
template <>
struct Item<std::uint8_t> {
  static constexpr DType kType = DType::u8;
  static constexpr const char* kName = "u8";
};
template <>
struct Item<std::int32_t> {
  static constexpr DType kType = DType::i32;
  static constexpr const char* kName = "i32";
};
template <>
struct Item<std::int64_t> {
  static constexpr DType kType = DType::i64;
  static constexpr const char* kName = "i64";
};
template <>
struct Item<float> {
  static constexpr DType kType = DType::f32;
  static constexpr const char* kName = "f32";
};
template <>
struct Item<double> {
  static constexpr DType kType = DType::f64;
  static constexpr const char* kName = "f64";
};

#ifdef __CUDACC__
// Calls algorithm(temporary, bytes, items) twice, with the number of items in the type that the
// plan selects.
template <class Algorithm>
void run_twice(Context& ctx, Algorithm algorithm) {
  const auto run = [&](auto count) {
    std::size_t bytes = 0;
    const auto checked = [&](cudaError_t error) {
      if (error != cudaSuccess) ctx.fail("cub", cudaGetErrorString(error));
      return error == cudaSuccess;
    };
    if (!checked(algorithm(nullptr, bytes, count))) return;
    void* const temporary = ctx.scratch("temporary", bytes > 0 ? bytes : 1);
    if (!ctx.ended()) checked(algorithm(temporary, bytes, count));
  };
  if (ctx.knob("count") == 64)
    run(static_cast<std::int64_t>(ctx.dim("N")));
  else
    run(static_cast<int>(ctx.dim("N")));
}
inline cudaStream_t stream_of(Context& ctx) {
  return static_cast<cudaStream_t>(ctx.stream());
}
// Returns a function that runs call(temporary, bytes, from, to, items, stream) on two tensors of T.
template <class T, class Call>
std::function<void(Context&)> from_to(std::string from, std::string to, Call call) {
  return [from = std::move(from), to = std::move(to), call](Context& ctx) {
    const T* const x = ctx.tensor(from).data<T>();
    T* const y = ctx.tensor(to).data<T>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return call(temporary, bytes, x, y, n, stream_of(ctx));
    });
  };
}
#endif

void add_reduce(Registrar& registrar);
void add_scan(Registrar& registrar);
void add_sort(Registrar& registrar);
void add_select(Registrar& registrar);

}  // namespace redzone::libraries::cub_targets
