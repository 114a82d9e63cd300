// Configures frameworks that have their own allocator such that each of their buffers is a separate
// block that can be guarded: by environment variables, or by Python code that runs when the program
// imports them (python/guard).
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
  automatic,        // everything but torch_nocache for a Python program; nothing for other programs
  none,             // changes nothing
  torch_pluggable,  // PyTorch allocates through the guard's functions
  torch_nocache,    // PyTorch without its caching allocator
  jax_platform,     // JAX uses cuMemAlloc for each buffer
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

// The hooks (interpose::Settings::hooks) that the framework needs for this program (a path).
int hooks_for(Framework framework, const std::filesystem::path& program);

struct Prepared {
  std::vector<std::pair<std::string, std::string>> environment;
  // Describes the variables that were set.
  std::string note;
};

// The variables for the frameworks that need no hook, for this program. Variables that the
// environment sets already are the user's choice and are kept.
Prepared prepare(Framework framework, const std::filesystem::path& program);

// The variables for the hooks; empty if there are none. `folder` contains the hooks' code
// (hooks_folder()) and is put before `path`, the current value of PYTHONPATH. Hook folders of other
// builds are removed from `path`.
Prepared prepare_hooks(int hooks, const std::filesystem::path& folder, std::string_view path);

// The folder of hooks that belongs to the preloaded library.
std::filesystem::path hooks_folder(const std::filesystem::path& library);

// Number of processes that used PyTorch or CuPy.
struct FrameworkUse {
  std::size_t torch = 0;           // had loaded PyTorch's CUDA library
  std::size_t torch_replaced = 0;  // those of them that allocated through the guard's functions
  std::size_t cupy_replaced = 0;   // ran CuPy without its pool
};
// The consequences for the report; "" if neither framework was used.
std::string use_note(const FrameworkUse& use, Framework framework, int hooks);

}  // namespace redzone::guard
