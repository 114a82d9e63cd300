// DeviceRadixSort, DeviceSegmentedSort and DeviceMergeSort.
#include <algorithm>

#include "cub/algorithms.h"

#ifdef __CUDACC__
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#endif

namespace redzone::libraries::cub_targets {
namespace {

constexpr std::int64_t kMostSorted = std::int64_t{1} << 24;

Fill wide_integers() {
  return Fill::integers([](const Dims&) {
    return std::pair<std::int64_t, std::int64_t>{-1000000, 1000000};
  });
}
Fill small_integers() {
  return Fill::integers([](const Dims&) { return std::pair<std::int64_t, std::int64_t>{0, 255}; });
}
template <class T>
Fill keys_of() {
  return std::is_signed_v<T> ? wide_integers() : small_integers();
}

// The indices of the keys in sorted order; equal keys keep their order.
std::vector<std::int64_t> sorted_places(InputTensor& keys, std::int64_t n, bool descending) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) values.push_back(keys.at<double>(0, i));
  std::vector<std::int64_t> places(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
    return descending ? x > y : x < y;
  });
  return places;
}

void put_sorted(InputRows& in, const char* what, bool descending, std::span<double> values) {
  InputTensor keys = in.tensor("keys"), source = in.tensor(what);
  const auto places = sorted_places(keys, in.dim("N"), descending);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = source.at<double>(0, places[i]);
}

enum class Order : std::uint8_t { radix, radix_descending, merge };

const char* prefix_of(Order order) {
  switch (order) {
    case Order::radix:
      return "radix_sort.keys.";
    case Order::radix_descending:
      return "radix_sort.keys_descending.";
    case Order::merge:
      return "merge_sort.keys.";
  }
  return "";
}

template <class T, Order kOrder>
void add_keys(Registrar& registrar) {
  Routine r = routine_of(std::string(prefix_of(kOrder)) + Item<T>::kName, "sorted = keys in order");
  r.spec.dims[0].max = kMostSorted;
  r.spec.tensors = {numbers_of("keys", Item<T>::kType, "N"),
                    row("sorted", Item<T>::kType, Role::out, "N")};
  r.spec.tensors[0].fill = keys_of<T>();
#ifdef __CUDACC__
  r.run = from_to<T>(
      "keys", "sorted",
      [](void* temporary, std::size_t& bytes, const T* keys, T* sorted, auto n,
         cudaStream_t stream) {
        using Radix = ::cub::DeviceRadixSort;
        constexpr int kBits = sizeof(T) * 8;
        if constexpr (kOrder == Order::merge)
          return ::cub::DeviceMergeSort::SortKeysCopy(temporary, bytes, keys, sorted, n,
                                                      ::cuda::std::less<>{}, stream);
        else if constexpr (kOrder == Order::radix)
          return Radix::SortKeys(temporary, bytes, keys, sorted, n, 0, kBits, stream);
        else
          return Radix::SortKeysDescending(temporary, bytes, keys, sorted, n, 0, kBits, stream);
      });
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    put_sorted(in, "keys", kOrder == Order::radix_descending, values);
  };
  add(registrar, std::move(r), never_missing);
}

// The documentation states: "DeviceRadixSort is stable."
template <class T, class U>
void add_pairs(Registrar& registrar) {
  Routine r = routine_of(std::string("radix_sort.pairs.") + Item<T>::kName + "_" + Item<U>::kName,
                         "sorted, moved = keys in order, and x in the order of its keys");
  r.spec.dims[0].max = kMostSorted;
  r.spec.tensors = {numbers_of("keys", Item<T>::kType, "N"), numbers_of("x", Item<U>::kType, "N"),
                    row("sorted", Item<T>::kType, Role::out, "N"),
                    row("moved", Item<U>::kType, Role::out, "N")};
  r.spec.tensors[0].fill = small_integers();
  r.spec.tensors[1].fill = keys_of<U>();
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const keys = ctx.tensor("keys").data<T>();
    const U* const x = ctx.tensor("x").data<U>();
    T* const sorted = ctx.tensor("sorted").data<T>();
    U* const moved = ctx.tensor("moved").data<U>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      constexpr int kBits = sizeof(T) * 8;
      return ::cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, sorted, x, moved, n, 0,
                                               kBits, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view output, std::int64_t, std::span<double> values) {
    put_sorted(in, output == "sorted" ? "keys" : "x", false, values);
  };
  add(registrar, std::move(r), never_missing);
}

}  // namespace

void add_sort(Registrar& registrar) {
  add_keys<std::int32_t, Order::radix>(registrar);
  add_keys<std::int32_t, Order::radix_descending>(registrar);
  add_keys<std::uint8_t, Order::radix>(registrar);
  add_keys<float, Order::radix>(registrar);
  add_pairs<std::int32_t, std::int32_t>(registrar);
  add_pairs<std::uint8_t, std::int64_t>(registrar);
  add_keys<std::int32_t, Order::merge>(registrar);
}

}  // namespace redzone::libraries::cub_targets
