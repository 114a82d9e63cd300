// DeviceReduce, DeviceSegmentedReduce and DeviceHistogram.
#include "cub/algorithms.h"

#ifdef __CUDACC__
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#endif

namespace redzone::libraries::cub_targets {
namespace {

enum class Reduction : std::uint8_t { sum, minimum, maximum };

double reduced(InputTensor& x, Reduction reduction, std::int64_t begin, std::int64_t end,
               double of_nothing) {
  if (begin == end) return of_nothing;
  double value = reduction == Reduction::sum ? 0 : x.at<double>(0, begin);
  for (std::int64_t i = begin; i < end; ++i) {
    const double item = x.at<double>(0, i);
    if (reduction == Reduction::sum) value += item;
    if (reduction == Reduction::minimum) value = std::min(value, item);
    if (reduction == Reduction::maximum) value = std::max(value, item);
  }
  return value;
}

const char* name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::minimum:
      return "min";
    case Reduction::maximum:
      return "max";
  }
  return "";
}

// For no items, Sum gives 0, Min and Max the limits of the type, so Min and Max get at least one
// item.
template <class T, Reduction kReduction>
void add_reduction(Registrar& registrar) {
  Routine r = routine_of(std::string("reduce.") + name_of(kReduction) + "." + Item<T>::kName,
                         "y = sum, minimum or maximum of x");
  if (kReduction != Reduction::sum) r.spec.dims[0].min = 1;
  r.spec.dims[0].max = kMostSummed<T>;
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"),
                    row("y", Item<T>::kType, Role::out, [](const Dims&) { return 1; })};
  // Sums of u8 wrap around, so limit N such that the sum fits.
  if (kReduction == Reduction::sum && sizeof(T) == 1) r.spec.dims[0].max = 64;
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      if constexpr (kReduction == Reduction::sum)
        return ::cub::DeviceReduce::Sum(temporary, bytes, x, y, n, stream_of(ctx));
      else if constexpr (kReduction == Reduction::minimum)
        return ::cub::DeviceReduce::Min(temporary, bytes, x, y, n, stream_of(ctx));
      else
        return ::cub::DeviceReduce::Max(temporary, bytes, x, y, n, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    values[0] = reduced(x, kReduction, 0, in.dim("N"), 0);
  };
  add(registrar, std::move(r), never_missing);
}

// Segments have equal lengths, except that the last one may be shorter or empty.
template <class T>
void add_segmented(Registrar& registrar) {
  Routine r = routine_of(std::string("segmented_reduce.sum.") + Item<T>::kName,
                         "y[s] = sum of segment s of x");
  r.spec.dims = {dim("N", 1, kMostSummed<T>, "items", 256), dim("S", 1, 1 << 20, "segments", 256)};
  r.spec.tensors = {
      numbers_of("x", Item<T>::kType, "N"),
      row("offsets", DType::i32, Role::in, [](const Dims& d) { return get(d, "S") + 1; }),
      row("y", Item<T>::kType, Role::out, "S")};
  r.spec.tensors[1].fill = Fill::offsets([](const Dims& d) { return get(d, "N"); });
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    const auto* const offsets = ctx.tensor("offsets").data<std::int32_t>();
    T* const y = ctx.tensor("y").data<T>();
    const auto segments = static_cast<int>(ctx.dim("S"));
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto) {
      return ::cub::DeviceSegmentedReduce::Sum(temporary, bytes, x, y, segments, offsets,
                                               offsets + 1, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x"), offsets = in.tensor("offsets");
    for (std::size_t s = 0; s < values.size(); ++s) {
      const auto at = static_cast<std::int64_t>(s);
      values[s] = reduced(x, Reduction::sum, static_cast<std::int64_t>(offsets.at<double>(0, at)),
                          static_cast<std::int64_t>(offsets.at<double>(0, at + 1)), 0);
    }
  };
  add(registrar, std::move(r), never_missing);
}

// B bins of width 1, starting at 0; items beyond the last bin are not counted.
template <class T>
void add_histogram(Registrar& registrar) {
  Routine r = routine_of(std::string("histogram.even.") + Item<T>::kName,
                         "y[b] = number of items of value b");
  r.spec.dims.push_back(dim("B", 1, 100, "bins", 0));
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", DType::i32, Role::out, "B")};
  r.spec.tensors[0].fill = Fill::integers([](const Dims&) {
    return std::pair<std::int64_t, std::int64_t>{0, 120};
  });
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    auto* const y = ctx.tensor("y").data<std::int32_t>();
    const auto bins = static_cast<int>(ctx.dim("B"));
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return ::cub::DeviceHistogram::HistogramEven(temporary, bytes, x, y, bins + 1,
                                                   static_cast<int>(0), bins, n, stream_of(ctx));
    });
  };
#endif
  r.row = [](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    for (std::int64_t i = 0; i < in.dim("N"); ++i)
      if (const auto bin = static_cast<std::size_t>(x.at<double>(0, i)); bin < values.size())
        ++values[bin];
  };
  add(registrar, std::move(r), never_missing);
}

}  // namespace

void add_reduce(Registrar& registrar) {
  add_reduction<std::int32_t, Reduction::sum>(registrar);
  add_reduction<float, Reduction::sum>(registrar);
  add_reduction<std::int64_t, Reduction::sum>(registrar);
  add_reduction<float, Reduction::minimum>(registrar);
  add_reduction<std::uint8_t, Reduction::maximum>(registrar);
  add_segmented<std::int32_t>(registrar);
  add_segmented<float>(registrar);
  add_histogram<std::uint8_t>(registrar);
  add_histogram<std::int32_t>(registrar);
}

}  // namespace redzone::libraries::cub_targets
