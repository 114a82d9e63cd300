// DeviceSelect, DevicePartition and DeviceRunLengthEncode. Outputs keep their old values beyond the
// items that the algorithm counts, so these parts are cleared after the call.
#include "cub/algorithms.h"

#ifdef __CUDACC__
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#endif

namespace redzone::libraries::cub_targets {
namespace {

#ifdef __CUDACC__
template <class T>
__global__ void clear_from(T* items, const std::int32_t* count, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= *count && i < n) items[i] = 0;
}

// Clears the items of `output` from index `count` on.
template <class T>
void clear_rest(Context& ctx, const char* output) {
  constexpr std::int64_t kBlock = 256;
  const std::int64_t n = ctx.dim("N");
  if (n > 0 && !ctx.ended())
    launch(ctx, "clear_from", clear_from<T>, {{(n + kBlock - 1) / kBlock}, {kBlock}},
           ctx.tensor(output).data<T>(), ctx.tensor("count").data<std::int32_t>(), n);
}
#endif

TensorSpec count() {
  return row("count", DType::i32, Role::out, [](const Dims&) { return 1; });
}

// Stores the values, or for the output "count" their number, in an output.
void put(const std::vector<double>& kept, std::string_view output, std::span<double> values) {
  if (output == "count") {
    values[0] = as_double(static_cast<std::int64_t>(kept.size()));
    return;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) values[i] = kept[i];
}

// kPartition: items without a flag follow in reverse order ("copied to the end in reverse").
template <class T, bool kPartition>
void add_flagged(Registrar& registrar) {
  Routine r = routine_of(
      std::string(kPartition ? "partition.flagged." : "select.flagged.") + Item<T>::kName,
      "y = the items whose flag is 1");
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), numbers_of("flags", DType::boolean, "N"),
                    row("y", Item<T>::kType, Role::out, "N"), count()};
  r.spec.tensors[1].fill = Fill::uniform(0, 1);
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    const auto* const flags = ctx.tensor("flags").data<bool>();
    T* const y = ctx.tensor("y").data<T>();
    auto* const count = ctx.tensor("count").data<std::int32_t>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      if constexpr (kPartition)
        return ::cub::DevicePartition::Flagged(temporary, bytes, x, flags, y, count, n,
                                               stream_of(ctx));
      else
        return ::cub::DeviceSelect::Flagged(temporary, bytes, x, flags, y, count, n,
                                            stream_of(ctx));
    });
    if constexpr (!kPartition) clear_rest<T>(ctx, "y");
  };
#endif
  r.row = [](InputRows& in, std::string_view output, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x"), flags = in.tensor("flags");
    std::vector<double> kept, others;
    for (std::int64_t i = 0; i < in.dim("N"); ++i)
      (flags.at<double>(0, i) != 0 ? kept : others).push_back(x.at<double>(0, i));
    put(kept, output, values);
    if (kPartition && output == "y")
      for (std::size_t i = 0; i < others.size(); ++i) values[values.size() - 1 - i] = others[i];
  };
  add(registrar, std::move(r), never_missing);
}

template <class T>
void add_unique(Registrar& registrar) {
  Routine r = routine_of(std::string("select.unique.") + Item<T>::kName,
                         "y = the first item of each run of equal ones");
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", Item<T>::kType, Role::out, "N"),
                    count()};
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    auto* const count = ctx.tensor("count").data<std::int32_t>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return ::cub::DeviceSelect::Unique(temporary, bytes, x, y, count, n, stream_of(ctx));
    });
    clear_rest<T>(ctx, "y");
  };
#endif
  r.row = [](InputRows& in, std::string_view output, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    std::vector<double> kept;
    for (std::int64_t i = 0; i < in.dim("N"); ++i)
      if (const double item = x.at<double>(0, i); kept.empty() || kept.back() != item)
        kept.push_back(item);
    put(kept, output, values);
  };
  add(registrar, std::move(r), never_missing);
}

template <class T>
void add_encode(Registrar& registrar) {
  Routine r = routine_of(std::string("run_length_encode.") + Item<T>::kName,
                         "the first item and the length of each run of equal ones");
  r.spec.tensors = {numbers_of("x", Item<T>::kType, "N"), row("y", Item<T>::kType, Role::out, "N"),
                    row("lengths", DType::i32, Role::out, "N"), count()};
#ifdef __CUDACC__
  r.run = [](Context& ctx) {
    const T* const x = ctx.tensor("x").data<T>();
    T* const y = ctx.tensor("y").data<T>();
    auto* const lengths = ctx.tensor("lengths").data<std::int32_t>();
    auto* const count = ctx.tensor("count").data<std::int32_t>();
    run_twice(ctx, [&](void* temporary, std::size_t& bytes, auto n) {
      return ::cub::DeviceRunLengthEncode::Encode(temporary, bytes, x, y, lengths, count,
                                                  static_cast<int>(n), stream_of(ctx));
    });
    clear_rest<T>(ctx, "y");
    clear_rest<std::int32_t>(ctx, "lengths");
  };
#endif
  r.row = [](InputRows& in, std::string_view output, std::int64_t, std::span<double> values) {
    InputTensor x = in.tensor("x");
    std::vector<double> items, lengths;
    for (std::int64_t i = 0; i < in.dim("N"); ++i) {
      const double item = x.at<double>(0, i);
      if (items.empty() || items.back() != item) {
        items.push_back(item);
        lengths.push_back(0);
      }
      ++lengths.back();
    }
    put(output == "lengths" ? lengths : items, output, values);
  };
  add(registrar, std::move(r), never_missing);
}

}  // namespace

void add_select(Registrar& registrar) {
  add_flagged<std::int32_t, false>(registrar);
  add_flagged<std::uint8_t, false>(registrar);
  add_flagged<std::int64_t, true>(registrar);
  add_unique<std::int32_t>(registrar);
  add_encode<std::int32_t>(registrar);
}

}  // namespace redzone::libraries::cub_targets
