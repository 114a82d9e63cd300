// The environment variables that are stored with a finding of a program, so that a rerun has the
// same environment. All others may hold secrets and are never written anywhere. LD_PRELOAD is
// excluded, because a finding of one machine must not make another machine load files.
#pragma once

#include <string_view>

namespace redzone::interpose {

inline constexpr std::string_view kKeptVariables[] = {
    "CONDA_PREFIX",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "JAX_PLATFORMS",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LOCAL_RANK",
    "MALLOC_ARENA_MAX",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "PATH",
    "PYTHONHASHSEED",
    "PYTHONPATH",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "RANK",
    "TORCH_COMPILE_DISABLE",
    "TRITON_INTERPRET",
    "TZ",
    "VIRTUAL_ENV",
    "WORLD_SIZE",
    "XLA_FLAGS",
    "XLA_PYTHON_CLIENT_ALLOCATOR",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
};

}  // namespace redzone::interpose
