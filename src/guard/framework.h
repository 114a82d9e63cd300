// What frameworks with an allocator of their own are told, so that each of their buffers is a block
// of its own, which can be guarded: by the environment, or by Python code that runs when the
// program imports them (python/guard).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
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

struct Prepared {
  std::vector<std::pair<std::string, std::string>> environment;
  // What was set.
  std::string note;
};

// For this program, a path. `hooks`: the folder with the Python code (hooks_of()). What the
// environment has already is the user's choice, and kept; PYTHONPATH gets the folder in front.
Prepared prepare(Framework framework, const std::filesystem::path& program,
                 const std::filesystem::path& hooks);

// The folder that belongs to the library to preload.
std::filesystem::path hooks_of(const std::filesystem::path& library);

// What that means for a program in which PyTorch was loaded. `replaced`: it has used the guard's
// functions (Fact::torch_replaced).
std::string torch_note(Framework framework, bool replaced);

}  // namespace redzone::guard
