// The registered targets of this process, by name and device.
#pragma once

#include <redzone/target.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/target_origin.h"
#include "target/spec_end.h"
#include "target/spec_watch.h"

namespace redzone {

struct TargetEntry {
  TargetSpec spec;
  DeviceKind device = DeviceKind::host;
  TargetFactory make;
  TargetOrigin origin = {};      // a shipped plugin is a plugin here
  std::string code_hash = {};    // of the files of its code, 32 hex digits
  std::string loaded_hash = {};  // Python: of all files that its workers import; the same digits
  bool is_lazy = false;          // a package under the lazily compiled launch of src/launcher
  std::string compiled_by = {};  // compiler of its code; empty: the compilers of this build
  // run() computes on the CPU before it returns, instead of enqueueing work.
  bool immediate = false;
  std::int64_t line = 0;  // of its declaration in the file of its origin; 0: not known

  bool is_package() const { return origin.source == TargetSource::package; }
  // Whether run() is compiled code of the target's author, which may keep something for each host
  // thread: Redzone itself makes the calls of a package, and one thread all calls of Python.
  bool may_know_threads() const {
    return origin.source != TargetSource::package && origin.source != TargetSource::python;
  }
};

// Of workers, beside the variables of this process.
struct WorkerEnvironment {
  std::vector<std::string> variables = {};  // "NAME=value"
  std::shared_ptr<const void> kept = {};    // what they name exists as long as this
};

// A plain value once loaded, so several threads may read it. Pointers to entries are valid until
// the registry is moved, changed or destroyed.
class Registry {
 public:
  static constexpr std::chrono::seconds kFunctionDeadline{10};

  // Tries the plugins out in a forked child first, so that a plugin that exits, crashes or hangs
  // (`deadline`, each) costs a usage error and not this process. Stops at the first problem, and
  // with a harness error once `stop` is true. Afterwards a function of a spec that does not return
  // within `deadline` ends the process, with the function's name on stderr and exit code 2, because
  // nothing can interrupt it.
  static Result<Registry> load(std::span<const std::filesystem::path> plugins,
                               std::chrono::milliseconds deadline = kFunctionDeadline,
                               const std::function<bool()>& stop = {});
  // The same without the fork: for a worker, whose driver has tried the plugins out.
  static Result<Registry> load_in_worker(std::span<const std::filesystem::path> plugins);

  // Makes each plugin load its kernels, then what they do once in a process (Registrar::warm_up).
  // Call it in a worker, after its device is open. `wait`: waits for what a function has enqueued,
  // and returns how it failed, or "". A usage error that names the plugin if a function throws or
  // its work fails. A function that ends the process, or takes longer than `slow`, is named on
  // standard error.
  Result<void> preload(const std::function<std::string()>& wait,
                       std::chrono::milliseconds slow = std::chrono::seconds(10)) const;

  // Adds one target and guards its functions (target/guarded_spec.h). A usage error if its spec is
  // invalid or (name, device) is taken.
  Result<void> add(TargetEntry entry);

  // The entry for this device, or else that of the device whose plugins it runs
  // (core/device_traits.h).
  const TargetEntry* find(std::string_view name, DeviceKind device) const;
  // A usage error with the nearest name, or with the devices that the target exists for.
  Result<const TargetEntry*> require(std::string_view name, DeviceKind device) const;
  // All entries of that name, one per device, in the order of the devices.
  std::span<const TargetEntry> named(std::string_view name) const;
  // The first entry of that name, for callers to whom the device does not matter: the spec is the
  // same for all. A usage error with the nearest name.
  Result<const TargetEntry*> require_any(std::string_view name) const;
  // The results of find() for all names, ascending.
  std::vector<const TargetEntry*> entries_for(DeviceKind device) const;
  // Of the functions of their specs; null in a worker, where nobody looks.
  SpecCalls* spec_calls() const { return watch_.get(); }
  // By name, then device.
  std::span<const TargetEntry> entries() const { return entries_; }
  // Of the workers of Python targets.
  void set_worker_environment(WorkerEnvironment environment);
  const WorkerEnvironment& worker_environment() const { return worker_environment_; }
  // Each name once, ascending.
  std::vector<std::string> names() const;

 private:
  // Whether the functions of a spec were tried by another process.
  enum class Tried : std::uint8_t { before, now };
  Result<void> add(TargetEntry entry, Tried tried);
  Result<void> add_plugins(std::span<const std::filesystem::path> plugins);
  const TargetEntry* find_exactly(std::string_view name, DeviceKind device) const;
  tl::unexpected<Error> unknown(std::string_view name) const;

  std::shared_ptr<SpecWatch> watch_;  // watches the functions of the specs; null in a worker
  std::unique_ptr<SpecEnd> end_;      // the same
  std::vector<TargetEntry> entries_;
  std::vector<void (*)()> preloads_;
  struct WarmUp {
    std::string plugin;  // its file
    std::function<void()> function;
  };
  std::vector<WarmUp> warm_ups_;
  WorkerEnvironment worker_environment_;
};

// The build of the plugin for checks (<redzone/host_checks.h>), whether or not it exists: the file
// of the same name in the folder `checked` beside it.
std::filesystem::path checked_build(const std::filesystem::path& plugin);
// Why a build for checks says nothing of its plugin: it is older. "" if it is not.
std::string problem_of_checked_build(const std::filesystem::path& checked);

// ../lib/redzone/targets/*.so relative to the running binary, ascending; empty if the folder is
// absent.
std::vector<std::filesystem::path> shipped_plugins();

}  // namespace redzone
