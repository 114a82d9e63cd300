// DeviceScan, DeviceAdjacentDifference and DeviceScan by key.
#include "cub/algorithms.h"

#ifdef __CUDACC__
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace redzone::libraries::cub_targets {
namespace {

enum class Step : std::uint8_t { inclusive_sum, exclusive_sum, difference };

const char* prefix_of(Step step) {
  switch (step) {
    case Step::inclusive_sum:
      return "scan.inclusive.";
    case Step::exclusive_sum:
      return "scan.exclusive.";
    case Step::difference:
      return "adjacent_difference.left.";
  }
  return "";
}

// Computes y[i] from x[0 .. i]: their sum, with or without the last item, or the difference of the
// last two.
template <class T, Step kStep>
void add_steps(Registrar& registrar) {
  Routine r = routine_of(std::string(prefix_of(kStep)) + Item<T>::kName,
                         "y[i] = sum of x[0 .. i], of x[0 .. i - 1], or x[i] - x[i - 1]");
  r.spec.dims[0].max = kMostSummed<T>;
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", Item<T>::kType, Role::out, "N")};
#ifdef __CUDACC__
  r.run = from_to<T>(
      "x", "y",
      [](void* temporary, std::size_t& bytes, const T* x, T* y, auto n, cudaStream_t stream) {
        if constexpr (kStep == Step::inclusive_sum)
          return ::cub::DeviceScan::InclusiveSum(temporary, bytes, x, y, n, stream);
        else if constexpr (kStep == Step::exclusive_sum)
          return ::cub::DeviceScan::ExclusiveSum(temporary, bytes, x, y, n, stream);
        else
          return ::cub::DeviceAdjacentDifference::SubtractLeftCopy(temporary, bytes, x, y, n,
                                                                   ::cuda::std::minus<>{}, stream);
      });
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    double sum = 0, last = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double item = x.at<double>(0, static_cast<std::int64_t>(i));
      values[i] =
          kStep == Step::difference ? item - last : sum + (kStep == Step::inclusive_sum ? item : 0);
      sum += item;
      last = item;
    }
  };
  add(registrar, std::move(r), never_missing);
}

// Each run of equal keys is summed separately.
template <class T>
void add_by_key(Registrar& registrar) {
  Routine r = routine_of(std::string("scan.inclusive_by_key.") + Item<T>::kName,
                         "y[i] = sum of x over the run of equal keys, up to i");
  r.spec.tensors = {numbers_of("keys", DType::i32, "N"), numbers_of("x", Item<T>::kType, "N"),
                    row("y", Item<T>::kType, Role::out, "N")};
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const auto* const keys = ctx.tensor("keys").data<std::int32_t>();
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return ::cub::DeviceScan::InclusiveSumByKey(temporary, bytes, keys, x, y, n,
                                                  ::cuda::std::equal_to<>{}, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor keys = in.tensor("keys"), x = in.tensor("x");
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (i > 0 && keys.at<double>(0, at) != keys.at<double>(0, at - 1)) sum = 0;
      values[i] = sum += x.at<double>(0, at);
    }
  };
  add(registrar, std::move(r), never_missing);
}

}  // namespace

void add_scan(Registrar& registrar) {
  add_steps<std::int32_t, Step::inclusive_sum>(registrar);
  add_steps<std::int32_t, Step::exclusive_sum>(registrar);
  add_steps<std::int64_t, Step::inclusive_sum>(registrar);
  add_steps<float, Step::exclusive_sum>(registrar);
  add_by_key<std::int32_t>(registrar);
  add_steps<std::int32_t, Step::difference>(registrar);
  add_steps<std::int64_t, Step::difference>(registrar);
}

}  // namespace redzone::libraries::cub_targets
