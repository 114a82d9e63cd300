#include "device/cuda/launcher.h"

#include <fmt/format.h>

#include <array>

#include "device/cuda/cuda_error.h"
#include "device/launch_check.h"

namespace redzone::device::cuda {
namespace {

// Shared memory that a block gets without opt-in; more must be allowed first (CUDA C++ Programming
// Guide, cudaFuncAttributeMaxDynamicSharedMemorySize).
constexpr std::size_t kSharedWithoutOptIn = 48 * 1024;

// Cluster size that every device with clusters supports; a kernel has to opt in to more (CUDA C++
// Programming Guide, "Thread Block Clusters").
constexpr std::int64_t kPortableCluster = 8;

std::int64_t ctas_of(const Extent& cluster) {
  return cluster.x * cluster.y * cluster.z;
}

// The sizes of the kernel's parameters; nullopt if the driver cannot report them.
std::optional<std::vector<std::size_t>> parameters_of(const DriverApi& api, CUfunction function) {
  if (api.function_param_info == nullptr) return std::nullopt;
  std::vector<std::size_t> sizes;
  for (;;) {
    std::size_t offset = 0, bytes = 0;
    const auto r = api.function_param_info(function, sizes.size(), &offset, &bytes);
    if (r == CUDA_ERROR_INVALID_VALUE) return sizes;  // no such index
    if (r != CUDA_SUCCESS) return std::nullopt;
    sizes.push_back(bytes);
  }
}

std::optional<std::string> mismatch(const std::vector<std::size_t>& parameters,
                                    const LaunchArgs& args) {
  if (parameters.size() != args.count)
    return fmt::format("{} arguments for {} parameters", args.count, parameters.size());
  for (std::size_t i = 0; i < args.count; ++i)
    if (parameters[i] != args.sizes[i])
      return fmt::format("argument {} has {} bytes, the parameter {}", i, args.sizes[i],
                         parameters[i]);
  return std::nullopt;
}

unsigned extent(std::int64_t value) {
  return static_cast<unsigned>(value);
}

// Launch attributes, set as in Triton 3.6's launcher. The scheduling policy spreads the cluster,
// because its CTAs have the maximum size.
unsigned attributes_of(const LaunchShape& shape, std::array<CUlaunchAttribute, 4>& attributes) {
  unsigned count = 0;
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    attributes[count] = {};
    attributes[count].id = id;
    return attributes[count++].value;
  };
  if (shape.dependent)
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .programmaticStreamSerializationAllowed = 1;
  if (shape.cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (ctas_of(shape.cluster) > 1) {
    auto& cluster = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    cluster.x = extent(shape.cluster.x);
    cluster.y = extent(shape.cluster.y);
    cluster.z = extent(shape.cluster.z);
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
        .clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  }
  return count;
}

CUresult enqueue(const DriverApi& api, CUstream stream, CUfunction function,
                 const LaunchShape& shape, const LaunchArgs& args) {
  std::array<CUlaunchAttribute, 4> attributes;
  const unsigned count = attributes_of(shape, attributes);
  const auto shared = extent(static_cast<std::int64_t>(shape.shared_bytes));
  auto** pointers = const_cast<void**>(args.pointers);
  if (count == 0)
    return api.launch_kernel(function, extent(shape.grid.x), extent(shape.grid.y),
                             extent(shape.grid.z), extent(shape.block.x), extent(shape.block.y),
                             extent(shape.block.z), shared, stream, pointers, nullptr);
  CUlaunchConfig config = {};
  config.gridDimX = extent(shape.grid.x);
  config.gridDimY = extent(shape.grid.y);
  config.gridDimZ = extent(shape.grid.z);
  config.blockDimX = extent(shape.block.x);
  config.blockDimY = extent(shape.block.y);
  config.blockDimZ = extent(shape.block.z);
  config.sharedMemBytes = shared;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = count;
  return api.launch_kernel_with(&config, function, pointers, nullptr);
}

}  // namespace

Status<void> Launcher::launch(CUstream stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) {
  const char* name = kernel.name != nullptr ? kernel.name : "";
  if (kernel.function == nullptr) {
    // The runtime API returns no function in a context that has faulted.
    if (auto fault = context_fault(api_, fmt::format("launch of {}", name)))
      return tl::unexpected(std::move(*fault));
    return tl::unexpected(
        Failure{Failure::Kind::harness, "no-function",
                fmt::format("kernel '{}' has no function for this device", name)});
  }
  if (auto refusal = refused_launch(limits_, name, shape))
    return tl::unexpected(std::move(*refusal));

  const auto function = static_cast<CUfunction>(kernel.function);
  RZ_TRY_ASSIGN(auto known, find(function, name));
  if (const auto& parameters = known->parameter_bytes)
    if (auto problem = mismatch(*parameters, args))
      return tl::unexpected(Failure{Failure::Kind::launch_refused, "invalid-arguments",
                                    fmt::format("kernel '{}': {}", name, *problem)});
  RZ_TRY(allow_shared(function, *known, shape.shared_bytes, name));

  RZ_TRY(allow_cluster(function, *known, shape.cluster, name));

  const auto r = enqueue(api_, stream, function, shape, args);
  if (r != CUDA_SUCCESS) return tl::unexpected(launch_failure_of(api_, r, name));
  return {};
}

Status<Launcher::Function*> Launcher::find(CUfunction function, const char* name) {
  if (auto it = functions_.find(function); it != functions_.end()) return &it->second;
  // The driver loads a kernel lazily, and may wait for the device when it does.
  const GatePause pause(gate_);
  if (api_.function_load != nullptr)
    if (auto r = api_.function_load(function); r != CUDA_SUCCESS)
      return tl::unexpected(launch_failure_of(api_, r, name));
  Function known;
  int shared = 0;
  if (auto r = api_.function_attribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
      r != CUDA_SUCCESS)
    return tl::unexpected(launch_failure_of(api_, r, name));
  known.static_shared_bytes = static_cast<std::size_t>(shared);
  known.parameter_bytes = parameters_of(api_, function);
  return &functions_.emplace(function, std::move(known)).first->second;
}

Status<void> Launcher::allow_shared(CUfunction function, Function& known, std::size_t bytes,
                                    const char* name) {
  if (known.static_shared_bytes + bytes <= kSharedWithoutOptIn) return {};
  if (bytes <= known.dynamic_limit_bytes) return {};
  const auto r = api_.set_function_attribute(
      function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
  if (r != CUDA_SUCCESS) return tl::unexpected(launch_failure_of(api_, r, name));
  known.dynamic_limit_bytes = bytes;
  return {};
}

Status<void> Launcher::allow_cluster(CUfunction function, Function& known, const Extent& cluster,
                                     const char* name) {
  if (ctas_of(cluster) <= kPortableCluster || known.any_cluster) return {};
  const auto r =
      api_.set_function_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (r != CUDA_SUCCESS) return tl::unexpected(launch_failure_of(api_, r, name));
  known.any_cluster = true;
  return {};
}

}  // namespace redzone::device::cuda
