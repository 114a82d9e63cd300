#include "guard/framework.h"

#include <fmt/format.h>

#include <cstdlib>

#include "guard/program.h"

namespace redzone::guard {
namespace {

struct Variable {
  Framework framework;
  const char *name, *value;
  bool automatic;
};

constexpr Variable kVariables[] = {
    {Framework::torch_nocache, "PYTORCH_NO_CUDA_MEMORY_CACHING", "1", false},
    {Framework::jax_platform, "XLA_PYTHON_CLIENT_ALLOCATOR", "platform", true},
};

// Modules whose import is followed by a hook of python/guard.
struct Hook {
  Framework framework;
  const char *module, *name;
};

constexpr Hook kHooks[] = {
    {Framework::torch_pluggable, "torch", "PyTorch"},
    {Framework::cupy, "cupy", "CuPy"},
};

constexpr const char* kHooksVariable = "REDZONE_GUARD_FRAMEWORKS";
constexpr const char* kPythonPath = "PYTHONPATH";

bool is_python(const std::filesystem::path& program) {
  return program.filename().string().starts_with("python") ||
         std::filesystem::path(interpreter_of(program)).filename().string().starts_with("python");
}

void add_note(Prepared& out, std::string_view note) {
  if (!out.note.empty()) out.note += "; ";
  out.note += note;
}

void add_hooks(Framework framework, const std::filesystem::path& hooks, Prepared& out) {
  std::string modules, names;
  for (const Hook& hook : kHooks) {
    if (framework != Framework::automatic && framework != hook.framework) continue;
    modules += (modules.empty() ? "" : ",") + std::string(hook.module);
    names += (names.empty() ? "" : " and ") + std::string(hook.name);
  }
  if (modules.empty()) return;
  std::string path = hooks.string();
  if (const char* const before = std::getenv(kPythonPath); before != nullptr && *before != '\0')
    path += std::string(":") + before;
  out.environment.emplace_back(kPythonPath, path);
  out.environment.emplace_back(kHooksVariable, modules);
  add_note(out, fmt::format("the allocator of {} is replaced when a program imports it", names));
}

}  // namespace

std::filesystem::path hooks_of(const std::filesystem::path& library) {
  return library.parent_path() / "python_guard";
}

Prepared prepare(Framework framework, const std::filesystem::path& program,
                 const std::filesystem::path& hooks) {
  Prepared out;
  if (framework == Framework::none || (framework == Framework::automatic && !is_python(program)))
    return out;
  add_hooks(framework, hooks, out);
  for (const Variable& variable : kVariables) {
    const bool wanted =
        framework == Framework::automatic ? variable.automatic : framework == variable.framework;
    if (!wanted) continue;
    if (const char* const set = std::getenv(variable.name); set != nullptr) {
      add_note(out, fmt::format("{} is {}, as the environment has it", variable.name, set));
      continue;
    }
    out.environment.emplace_back(variable.name, variable.value);
    add_note(out, fmt::format("{}={} is set", variable.name, variable.value));
  }
  return out;
}

std::string torch_note(Framework framework, bool replaced) {
  if (replaced)
    return "PyTorch's pluggable allocator: each tensor is a block, and its free is in the order of "
           "the streams that use it; memory statistics are 0, and snapshots, sharing of tensors "
           "between processes, reduce-overhead and cudnn.benchmark do not work";
  if (framework == Framework::torch_nocache || std::getenv(kVariables[0].name) != nullptr)
    return "PyTorch without its caching allocator: each tensor is a block, but its frees are in "
           "the order of no stream, so a missing record_stream() is not seen, and it refuses to "
           "capture graphs";
  if (framework == Framework::torch_pluggable || framework == Framework::automatic)
    return "PyTorch's allocator was not replaced, so it allocates segments, within which nothing "
           "is seen: Python must start with its site module and PYTHONPATH, and torch needs CUDA";
  return "PyTorch allocates segments, within which nothing is seen; with --framework "
         "torch-pluggable or torch-nocache each tensor is a block";
}

}  // namespace redzone::guard
