// The plugin `thrust`: algorithms with the policy par_nosync, which need not wait for the device.
// The call's allocator provides their temporary storage.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/routine.h"
#include "common/spec_parts.h"

#ifdef __CUDACC__
#include <thrust/adjacent_difference.h>
#include <thrust/copy.h>
#include <thrust/gather.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>
#endif

namespace redzone::libraries::thrust_targets {
namespace {

using Value = std::int32_t;

LayoutRules slice_of_storage() {
  LayoutRules rules;
  rules.offset = true;
  return rules;
}

TensorSpec row(std::string name, Role role) {
  return tensor(std::move(name), DType::i32, role, shape_of({"N"}), slice_of_storage());
}

// An algorithm with the input `x`, optionally an input `k`, and the output `y`, each with N items.
struct Algorithm {
  const char* name;
  const char* doc;
  bool has_k = false;
  bool in_place = false;  // y is also the input, and x is not used
  bool k_is_index = false;
  // Computes the expected items.
  std::vector<double> (*expected)(const std::vector<double>& x, const std::vector<double>& k);
};

std::vector<double> sorted(const std::vector<double>& x, const std::vector<double>&) {
  std::vector<double> y = x;
  std::sort(y.begin(), y.end());
  return y;
}
std::vector<double> scanned(const std::vector<double>& x, const std::vector<double>&) {
  std::vector<double> y;
  double sum = 0;
  for (const double item : x) y.push_back(sum += item);
  return y;
}
std::vector<double> differences(const std::vector<double>& x, const std::vector<double>&) {
  std::vector<double> y = x;
  for (std::size_t i = 1; i < x.size(); ++i) y[i] = x[i] - x[i - 1];
  return y;
}
std::vector<double> reversed(const std::vector<double>& x, const std::vector<double>&) {
  return {x.rbegin(), x.rend()};
}
std::vector<double> gathered(const std::vector<double>& x, const std::vector<double>& k) {
  std::vector<double> y;
  for (const double index : k) y.push_back(x[static_cast<std::size_t>(index)]);
  return y;
}
std::vector<double> added(const std::vector<double>& x, const std::vector<double>& k) {
  std::vector<double> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] + k[i]);
  return y;
}

enum class Name : std::uint8_t { sort, scan, difference, reverse, gather, transform };
const Algorithm kAlgorithms[] = {
    {.name = "sort", .doc = "y in order", .in_place = true, .expected = sorted},
    {.name = "inclusive_scan", .doc = "y[i] = sum of x[0 .. i]", .expected = scanned},
    {.name = "adjacent_difference", .doc = "y[i] = x[i] - x[i - 1]", .expected = differences},
    {.name = "reverse_copy", .doc = "y = x from its end", .expected = reversed},
    {.name = "gather",
     .doc = "y[i] = x[k[i]]",
     .has_k = true,
     .k_is_index = true,
     .expected = gathered},
    {.name = "transform", .doc = "y = x + k", .has_k = true, .expected = added},
};

#ifdef __CUDACC__
// An allocator for Thrust's policies that uses the call's allocator.
struct CallAllocator {
  using value_type = char;
  Context* ctx;

  char* allocate(std::ptrdiff_t bytes) {
    return static_cast<char*>(ctx->allocate("temporary", static_cast<std::size_t>(bytes)));
  }
  void deallocate(char* p, std::size_t) { ctx->free(p); }
};

void run_algorithm(Context& ctx, Name name, bool has_k) {
  const std::int64_t n = ctx.dim("N");
  CallAllocator allocator{&ctx};
  const auto policy =
      ::thrust::cuda::par_nosync(allocator).on(static_cast<cudaStream_t>(ctx.stream()));
  Value* const y = ctx.tensor("y").data<Value>();
  if (name == Name::sort) {
    ::thrust::sort(policy, y, y + n);
    return;
  }
  const Value* const x = ctx.tensor("x").data<Value>();
  const Value* const k = has_k ? ctx.tensor("k").data<Value>() : nullptr;
  switch (name) {
    case Name::sort:
      break;
    case Name::scan:
      ::thrust::inclusive_scan(policy, x, x + n, y);
      break;
    case Name::difference:
      ::thrust::adjacent_difference(policy, x, x + n, y);
      break;
    case Name::reverse:
      ::thrust::reverse_copy(policy, x, x + n, y);
      break;
    case Name::gather:
      ::thrust::gather(policy, k, k + n, x, y);
      break;
    case Name::transform:
      ::thrust::transform(policy, x, x + n, k, y, ::cuda::std::plus<Value>{});
      break;
  }
}
#endif

void add_algorithm(Registrar& registrar, const Algorithm& algorithm, [[maybe_unused]] Name name) {
  Routine r;
  r.spec.name = std::string("thrust.") + algorithm.name;
  r.spec.doc = algorithm.doc;
  r.spec.dims = {dim("N", algorithm.k_is_index ? 1 : 0, 1 << 24, "items", 256)};
  r.spec.tensors = {row("y", algorithm.in_place ? Role::inout : Role::out)};
  if (!algorithm.in_place) r.spec.tensors.push_back(row("x", Role::in));
  if (algorithm.has_k) r.spec.tensors.push_back(row("k", Role::in));
  if (algorithm.k_is_index)
    r.spec.tensors.back().fill = Fill::integers([](const Dims& d) {
      return std::pair<std::int64_t, std::int64_t>{0, get(d, "N") - 1};
    });
  r.spec.tolerance = {0, 0};
  r.spec.has_reference = true;
  r.spec.work = [](const Dims& d, const Config&) { return 4 * as_double(get(d, "N")) + 256; };
#ifdef __CUDACC__
  r.run = [name, has_k = algorithm.has_k](Context& ctx) { run_algorithm(ctx, name, has_k); };
#endif
  r.row = [&algorithm](InputRows& in, std::string_view, std::int64_t, std::span<double> values) {
    const auto all = [&](const char* tensor) {
      InputTensor read = in.tensor(tensor);
      std::vector<double> items;
      for (std::int64_t i = 0; i < in.dim("N"); ++i) items.push_back(read.at<double>(0, i));
      return items;
    };
    const auto x =
        algorithm.in_place ? std::vector<double>(values.begin(), values.end()) : all("x");
    const auto y = algorithm.expected(x, algorithm.has_k ? all("k") : std::vector<double>());
    std::copy(y.begin(), y.end(), values.begin());
  };
  add(registrar, std::move(r), [] { return std::string(); });
}

}  // namespace
}  // namespace redzone::libraries::thrust_targets

REDZONE_PLUGIN(registrar) {
  using namespace redzone::libraries::thrust_targets;
  for (std::size_t i = 0; i < std::size(kAlgorithms); ++i)
    add_algorithm(registrar, kAlgorithms[i], static_cast<Name>(i));
}
