#include "guard/framework.h"

#include <fmt/format.h>

#include <cstdlib>

#include "guard/program.h"

namespace redzone::guard {
namespace {

struct Choice {
  Framework framework;
  const char *variable, *value;
};

constexpr Choice kChoices[] = {
    {Framework::torch_nocache, "PYTORCH_NO_CUDA_MEMORY_CACHING", "1"},
    {Framework::jax_platform, "XLA_PYTHON_CLIENT_ALLOCATOR", "platform"},
};

bool is_python(const std::filesystem::path& program) {
  return program.filename().string().starts_with("python") ||
         std::filesystem::path(interpreter_of(program)).filename().string().starts_with("python");
}

}  // namespace

Prepared prepare(Framework framework, const std::filesystem::path& program) {
  Prepared out;
  if (framework == Framework::none || (framework == Framework::automatic && !is_python(program)))
    return out;
  for (const Choice& choice : kChoices) {
    if (framework != Framework::automatic && framework != choice.framework) continue;
    if (!out.note.empty()) out.note += "; ";
    if (const char* const set = std::getenv(choice.variable); set != nullptr) {
      out.note += fmt::format("{} is {}, as the environment has it", choice.variable, set);
      continue;
    }
    out.environment.emplace_back(choice.variable, choice.value);
    out.note += fmt::format("{}={} is set", choice.variable, choice.value);
  }
  return out;
}

std::string torch_note(Framework framework) {
  const bool asked = framework == Framework::torch_nocache || framework == Framework::automatic;
  if (std::getenv(kChoices[0].variable) == nullptr && !asked)
    return "PyTorch allocates segments, within which nothing is seen; with --framework "
           "torch-nocache each tensor is a block";
  return "PyTorch without its caching allocator: each tensor is a block, but its frees are in the "
         "order of no stream, so a missing record_stream() is not seen, and it refuses to capture "
         "graphs";
}

}  // namespace redzone::guard
