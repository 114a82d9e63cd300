#include "guard/framework.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "guard/program.h"
#include "interpose/settings.h"

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

// Modules after whose import a hook of python/guard runs.
struct Hook {
  Framework framework;
  int hook;  // value for interpose::Settings::hooks
  const char *module, *name;
};

constexpr Hook kHooks[] = {
    {Framework::torch_pluggable, interpose::kTorchHook, "torch", "PyTorch"},
    {Framework::cupy, interpose::kCupyHook, "cupy", "CuPy"},
};

constexpr const char* kHooksVariable = "REDZONE_GUARD_FRAMEWORKS";
constexpr const char* kPythonPath = "PYTHONPATH";
constexpr const char* kHooksFolder = "python_guard";

bool is_python(const std::filesystem::path& program) {
  return program.filename().string().starts_with("python") ||
         std::filesystem::path(interpreter_of(program)).filename().string().starts_with("python");
}

void add_note(Prepared& out, std::string_view note) {
  if (!out.note.empty()) out.note += "; ";
  out.note += note;
}

bool applies(Framework framework, const std::filesystem::path& program) {
  return framework != Framework::none && (framework != Framework::automatic || is_python(program));
}

}  // namespace

std::filesystem::path hooks_folder(const std::filesystem::path& library) {
  return library.parent_path() / kHooksFolder;
}

int hooks_for(Framework framework, const std::filesystem::path& program) {
  int out = 0;
  for (const Hook& hook : kHooks)
    if (applies(framework, program) &&
        (framework == Framework::automatic || framework == hook.framework))
      out |= hook.hook;
  return out;
}

Prepared prepare(Framework framework, const std::filesystem::path& program) {
  Prepared out;
  if (!applies(framework, program)) return out;
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

Prepared prepare_hooks(int hooks, const std::filesystem::path& folder, std::string_view path) {
  Prepared out;
  std::string modules, names, folders = folder.string();
  for (const Hook& hook : kHooks) {
    if ((hooks & hook.hook) == 0) continue;
    modules += (modules.empty() ? "" : ",") + std::string(hook.module);
    names += (names.empty() ? "" : " and ") + std::string(hook.name);
  }
  if (modules.empty()) return out;
  std::istringstream others{std::string(path)};
  for (std::string other; std::getline(others, other, ':');)
    if (std::filesystem::path(other).filename() != kHooksFolder) folders += ":" + other;
  out.environment = {{kPythonPath, folders}, {kHooksVariable, modules}};
  out.note = fmt::format("the allocator of {} is replaced before a program uses it", names);
  return out;
}

namespace {

std::string torch_note(const FrameworkUse& use, Framework framework, int hooks) {
  if (use.torch_replaced != 0)
    return fmt::format(
        "PyTorch's pluggable allocator{}: each tensor is a block, and its free is in the order of "
        "the streams that use it; memory statistics are 0, memory that runs out is a RuntimeError, "
        "and snapshots, sharing of tensors between processes, reduce-overhead and cudnn.benchmark "
        "do not work",
        use.torch_replaced == use.torch
            ? ""
            : fmt::format(" in {} of {} processes with PyTorch", use.torch_replaced, use.torch));
  if (framework == Framework::torch_nocache || std::getenv(kVariables[0].name) != nullptr)
    return "PyTorch without its caching allocator: each tensor is a block, but its frees are in "
           "the order of no stream, so a missing record_stream() is not seen, and it refuses to "
           "capture graphs";
  if ((hooks & interpose::kTorchHook) != 0)
    return "PyTorch has allocated nothing through the guard's functions: its segments are blocks, "
           "within which nothing is seen, unless it has used no device (Python must start with its "
           "site module and PYTHONPATH, and an allocator of the program's own goes first)";
  return "PyTorch allocates segments, within which nothing is seen; with --framework "
         "torch-pluggable or torch-nocache each tensor is a block";
}

}  // namespace

std::string use_note(const FrameworkUse& use, Framework framework, int hooks) {
  std::string out = use.torch == 0 ? "" : torch_note(use, framework, hooks);
  if (use.cupy_replaced != 0)
    out += std::string(out.empty() ? "" : "; ") +
           "CuPy without its memory pool: each array is a "
           "block, and frees come after all work";
  return out;
}

}  // namespace redzone::guard
