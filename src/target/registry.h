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
  TargetOrigin origin = {};      // a shipped plugin counts as a plugin
  std::string code_hash = {};    // hash of the files of its code, 32 hex digits
  std::string loaded_hash = {};  // Python: hash of all files that its workers import
  bool is_lazy = false;          // a package under the lazily compiled launch of src/launcher
  std::string compiled_by = {};  // compiler of its code; empty: the compilers of this build
  // run() computes on the CPU before it returns, instead of enqueueing work.
  bool immediate = false;
  std::int64_t line = 0;  // line of its declaration in the file of its origin; 0: unknown

  bool is_package() const { return origin.source == TargetSource::package; }
  // Whether run() is compiled code of the target's author, which may keep data for each host
  // thread. Redzone itself makes the calls of a package, and one thread makes all calls of a Python
  // target.
  bool may_know_threads() const {
    return origin.source != TargetSource::package && origin.source != TargetSource::python;
  }
};

// Environment of workers, in addition to the variables of this process.
struct WorkerEnvironment {
  std::vector<std::string> variables = {};  // "NAME=value"
  std::shared_ptr<const void> kept = {};    // keeps alive what the variables refer to
};

// A plain value once loaded, so several threads may read it. Pointers to entries are valid until
// the registry is moved, changed or destroyed.
class Registry {
 public:
  static constexpr std::chrono::seconds kFunctionDeadline{10};

  // Tries the plugins in a forked child first, so that a plugin that exits, crashes or hangs
  // (`deadline` for each) causes a usage error instead of ending this process. Stops at the first
  // problem, and with a harness error once `stop` returns true. Afterwards a function of a spec
  // that does not return within `deadline` ends the process, with the function's name on stderr and
  // exit code 2, because it cannot be interrupted.
  static Result<Registry> load(std::span<const std::filesystem::path> plugins,
                               std::chrono::milliseconds deadline = kFunctionDeadline,
                               const std::function<bool()>& stop = {});
  // Like load(), without the fork: for a worker, whose driver has already tried the plugins.
  static Result<Registry> load_in_worker(std::span<const std::filesystem::path> plugins);

  // Makes each plugin load its kernels, then calls the functions of Registrar::warm_up. Call it in
  // a worker, after its device is open. `wait`: waits for the work that a function has enqueued,
  // and returns how the work failed, or "". Returns a usage error that names the plugin if a
  // function throws or its work fails. A function that ends the process, or takes longer than
  // `slow`, is reported on standard error.
  Result<void> preload(const std::function<std::string()>& wait,
                       std::chrono::milliseconds slow = std::chrono::seconds(10)) const;

  // Adds one target and guards its functions (target/guarded_spec.h). A usage error if its spec is
  // invalid or (name, device) is taken.
  Result<void> add(TargetEntry entry);

  // The entry for this device, or else the entry for the device whose plugins it runs
  // (core/device_traits.h).
  const TargetEntry* find(std::string_view name, DeviceKind device) const;
  // A usage error with the nearest name, or with the devices that the target exists for.
  Result<const TargetEntry*> require(std::string_view name, DeviceKind device) const;
  // All entries of that name, one per device, in the order of the devices.
  std::span<const TargetEntry> named(std::string_view name) const;
  // The first entry of that name, for callers that need the spec only: it is the same for all
  // devices. A usage error with the nearest name if there is none.
  Result<const TargetEntry*> require_any(std::string_view name) const;
  // The results of find() for all names, ascending.
  std::vector<const TargetEntry*> entries_for(DeviceKind device) const;
  // The calls of the specs' functions; null in a worker, which does not watch them.
  SpecCalls* spec_calls() const { return watch_.get(); }
  // Sorted by name, then device.
  std::span<const TargetEntry> entries() const { return entries_; }
  // The environment of workers of Python targets.
  void set_worker_environment(WorkerEnvironment environment);
  const WorkerEnvironment& worker_environment() const { return worker_environment_; }
  // Each name once, ascending.
  std::vector<std::string> names() const;

 private:
  // Whether another process has already tried the functions of a spec.
  enum class Tried : std::uint8_t { before, now };
  Result<void> add(TargetEntry entry, Tried tried);
  Result<void> add_plugins(std::span<const std::filesystem::path> plugins);
  const TargetEntry* find_exactly(std::string_view name, DeviceKind device) const;
  tl::unexpected<Error> unknown(std::string_view name) const;

  std::shared_ptr<SpecWatch> watch_;  // watches the functions of the specs; null in a worker
  std::unique_ptr<SpecEnd> end_;      // reports functions that end the process; null in a worker
  std::vector<TargetEntry> entries_;
  std::vector<void (*)()> preloads_;
  struct WarmUp {
    std::string plugin;  // its file
    std::function<void()> function;
  };
  std::vector<WarmUp> warm_ups_;
  WorkerEnvironment worker_environment_;
};

// The path of the plugin's build for checks (<redzone/host_checks.h>), whether or not it exists:
// the file of the same name in the folder `checked` beside the plugin.
std::filesystem::path checked_build(const std::filesystem::path& plugin);
// Why a build for checks cannot be used: it is missing, or older than its plugin. "" if it can.
std::string problem_of_checked_build(const std::filesystem::path& checked);

// ../lib/redzone/targets/*.so relative to the running binary, ascending; empty if the folder is
// absent.
std::vector<std::filesystem::path> shipped_plugins();

}  // namespace redzone
