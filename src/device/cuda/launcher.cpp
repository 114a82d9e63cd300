#include "device/cuda/launcher.h"

#include <fmt/format.h>

#include "device/cuda/cuda_error.h"
#include "device/launch_check.h"

namespace redzone::device::cuda {
namespace {

// Shared memory that a block gets without asking; more must be allowed first (CUDA C++ Programming
// Guide, cudaFuncAttributeMaxDynamicSharedMemorySize).
constexpr std::size_t kSharedWithoutOptIn = 48 * 1024;

// Nothing when the driver cannot say.
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

}  // namespace

Status<void> Launcher::launch(CUstream stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) {
  const char* name = kernel.name != nullptr ? kernel.name : "";
  if (kernel.function == nullptr) {
    // The runtime API finds no function of a context that has faulted.
    if (auto fault = context_fault(api_, fmt::format("launch of {}", name)))
      return tl::unexpected(std::move(*fault));
    return tl::unexpected(
        Failure{Failure::Kind::harness, "no-function",
                fmt::format("kernel '{}' has no function for this device", name)});
  }
  if (auto refusal = refused_launch(limits_, name, shape))
    return tl::unexpected(std::move(*refusal));

  const auto function = static_cast<CUfunction>(kernel.function);
  auto known = find(function, name);
  if (!known) return tl::unexpected(std::move(known.error()));
  if (const auto& parameters = (*known)->parameter_bytes)
    if (auto problem = mismatch(*parameters, args))
      return tl::unexpected(Failure{Failure::Kind::launch_refused, "invalid-arguments",
                                    fmt::format("kernel '{}': {}", name, *problem)});
  if (auto allowed = allow_shared(function, **known, shape.shared_bytes, name); !allowed)
    return allowed;

  const auto u = [](std::int64_t extent) { return static_cast<unsigned>(extent); };
  const auto r = api_.launch_kernel(function, u(shape.grid.x), u(shape.grid.y), u(shape.grid.z),
                                    u(shape.block.x), u(shape.block.y), u(shape.block.z),
                                    u(static_cast<std::int64_t>(shape.shared_bytes)), stream,
                                    const_cast<void**>(args.pointers), nullptr);
  if (r != CUDA_SUCCESS) return tl::unexpected(launch_failure_of(api_, r, name));
  return {};
}

Status<Launcher::Function*> Launcher::find(CUfunction function, const char* name) {
  if (auto it = functions_.find(function); it != functions_.end()) return &it->second;
  // The driver loads a kernel lazily and may wait for the device when it does.
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

}  // namespace redzone::device::cuda
