// What frameworks with an allocator of their own are told, so that each of their buffers is a block
// of its own, which can be guarded: by the environment, or by Python code that runs when the
// program imports them (python/guard).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/enum_names.h"

namespace redzone::guard {

enum class Framework : std::uint8_t {
  automatic,        // of a Python program all but torch_nocache; nothing to other programs
  none,             // all is left as it is
  torch_pluggable,  // PyTorch allocates through the guard's own functions
  torch_nocache,    // PyTorch without its caching allocator
  jax_platform,     // JAX with cuMemAlloc for each buffer
  cupy,             // CuPy without its memory pool
};

constexpr auto enum_table(Framework) {
  return enum_names<Framework>("framework", {{Framework::automatic, "auto"},
                                             {Framework::none, "none"},
                                             {Framework::torch_pluggable, "torch-pluggable"},
                                             {Framework::torch_nocache, "torch-nocache"},
                                             {Framework::jax_platform, "jax-platform"},
                                             {Framework::cupy, "cupy"}});
}

// The hooks that the framework needs (interpose::Settings::hooks) for this program, a path.
int hooks_for(Framework framework, const std::filesystem::path& program);

struct Prepared {
  std::vector<std::pair<std::string, std::string>> environment;
  // What was set.
  std::string note;
};

// What the environment tells the frameworks that need no hook, for this program. What it has
// already is the user's choice, and kept.
Prepared prepare(Framework framework, const std::filesystem::path& program);

// The variables for hooks, empty without one. `folder`: with their code (hooks_folder()), which
// comes first in PYTHONPATH, before `path`, what that is without it. Hooks of another build that
// are in `path` are left out.
Prepared prepare_hooks(int hooks, const std::filesystem::path& folder, std::string_view path);

// The folder that belongs to the library to preload.
std::filesystem::path hooks_folder(const std::filesystem::path& library);

// What processes did of which PyTorch or CuPy was loaded.
struct FrameworkUse {
  std::size_t torch = 0;           // had PyTorch's part for CUDA
  std::size_t torch_replaced = 0;  // of them, allocated through the guard's functions
  std::size_t cupy_replaced = 0;   // ran CuPy without its pool
};
// What that means for the report; "" without either.
std::string use_note(const FrameworkUse& use, Framework framework, int hooks);

}  // namespace redzone::guard
