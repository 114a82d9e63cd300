#include "device/cuda/cuda_error.h"

#include <fmt/format.h>

namespace redzone::device::cuda {
namespace {

std::string name_of(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  if (api.error_name(result, &name) != CUDA_SUCCESS || name == nullptr)
    return fmt::format("CUDA_ERROR_{}", static_cast<int>(result));
  return name;
}

Failure make_failure(const DriverApi& api, Failure::Kind kind, CUresult result,
                     std::string_view what) {
  const char* text = nullptr;
  if (api.error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return {kind, name_of(api, result), fmt::format("{}: {}", what, text)};
}

// The error that the context carries, or `result` if the context is alive. The query returns at
// once, even while a stream is held.
CUresult root_cause(const DriverApi& api, CUresult result) {
  if (is_sticky(result)) return result;
  const CUresult state = api.stream_query(nullptr);
  return is_sticky(state) ? state : result;
}

}  // namespace

bool is_capture_error(CUresult result) {
  return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
         result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

Failure failure_of(const DriverApi& api, CUresult result, std::string_view what) {
  const CUresult cause = root_cause(api, result);
  Failure::Kind kind = Failure::Kind::harness;
  if (is_sticky(cause))
    kind = Failure::Kind::fault;
  else if (cause == CUDA_ERROR_OUT_OF_MEMORY)
    kind = Failure::Kind::out_of_memory;
  else if (is_capture_error(cause))
    kind = Failure::Kind::unsupported;
  return make_failure(api, kind, cause, what);
}

Failure asynchronous_failure_of(const DriverApi& api, CUresult result, std::string_view what) {
  return make_failure(api, Failure::Kind::fault, root_cause(api, result), what);
}

std::optional<Failure> context_fault(const DriverApi& api, std::string_view what) {
  const CUresult state = api.stream_query(nullptr);
  if (!is_sticky(state)) return std::nullopt;
  return make_failure(api, Failure::Kind::fault, state, what);
}

Failure launch_failure_of(const DriverApi& api, CUresult result, std::string_view kernel) {
  return refusal_of(api, result, fmt::format("launch of {}", kernel));
}

Failure refusal_of(const DriverApi& api, CUresult result, std::string_view what) {
  Failure failure = failure_of(api, result, what);
  if (failure.kind == Failure::Kind::harness) failure.kind = Failure::Kind::launch_refused;
  return failure;
}

}  // namespace redzone::device::cuda
