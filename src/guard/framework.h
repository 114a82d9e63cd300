// What the environment tells frameworks with an allocator of their own, so that each of their
// buffers is an allocation of the driver, which can be guarded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/enum_names.h"

namespace redzone::guard {

enum class Framework : std::uint8_t {
  automatic,      // of a Python program each of the others, which do nothing to other programs
  none,           // the environment is left as it is
  torch_nocache,  // PyTorch without its caching allocator
  jax_platform,   // JAX with cuMemAlloc for each buffer
};

constexpr auto enum_table(Framework) {
  return enum_names<Framework>("framework", {{Framework::automatic, "auto"},
                                             {Framework::none, "none"},
                                             {Framework::torch_nocache, "torch-nocache"},
                                             {Framework::jax_platform, "jax-platform"}});
}

struct Prepared {
  std::vector<std::pair<std::string, std::string>> environment;
  // What was set.
  std::string note;
};

// For this program, a path. What the environment has already is the user's choice, and kept.
Prepared prepare(Framework framework, const std::filesystem::path& program);

// What that means for a program in which PyTorch was loaded.
std::string torch_note(Framework framework);

}  // namespace redzone::guard
