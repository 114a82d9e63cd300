// DeviceScan, DeviceAdjacentDifference and DeviceScan by key.
#include "cub/algorithms.h"

#ifdef __CUDACC__
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace redzone::libraries::cub_targets {
namespace {

template <class T, bool kInclusive>
void add_sum(Registrar& registrar) {
  Routine r =
      routine_of(std::string(kInclusive ? "scan.inclusive." : "scan.exclusive.") + Item<T>::kName,
                 "y[i] = sum of x[0 .. i], without x[i] if exclusive");
  // Sums of f32 are exact below 2^24.
  if (std::is_same_v<T, float>) r.spec.dims[0].max = std::int64_t{1} << 22;
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", Item<T>::kType, Role::out, "N")};
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      if constexpr (kInclusive)
        return ::cub::DeviceScan::InclusiveSum(temporary, bytes, x, y, n, stream_of(ctx));
      else
        return ::cub::DeviceScan::ExclusiveSum(temporary, bytes, x, y, n, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double item = x.at<double>(0, static_cast<std::int64_t>(i));
      values[i] = kInclusive ? sum + item : sum;
      sum += item;
    }
  };
  add(registrar, std::move(r), never_missing);
}

// Runs of equal keys are summed by themselves.
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

template <class T>
void add_difference(Registrar& registrar) {
  Routine r = routine_of(std::string("adjacent_difference.left.") + Item<T>::kName,
                         "y[0] = x[0], y[i] = x[i] - x[i - 1]");
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", Item<T>::kType, Role::out, "N")};
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return ::cub::DeviceAdjacentDifference::SubtractLeftCopy(
          temporary, bytes, x, y, n, ::cuda::std::minus<>{}, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      values[i] = x.at<double>(0, at) - (i > 0 ? x.at<double>(0, at - 1) : 0);
    }
  };
  add(registrar, std::move(r), never_missing);
}

}  // namespace

void add_scan(Registrar& registrar) {
  add_sum<std::int32_t, true>(registrar);
  add_sum<std::int32_t, false>(registrar);
  add_sum<std::int64_t, true>(registrar);
  add_sum<float, false>(registrar);
  add_by_key<std::int32_t>(registrar);
  add_difference<std::int32_t>(registrar);
  add_difference<std::int64_t>(registrar);
}

}  // namespace redzone::libraries::cub_targets
