// The targets that this process knows, by name and device.
#pragma once

#include <redzone/target.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "target/spec_watch.h"

namespace redzone {

struct TargetEntry {
  TargetSpec spec;
  DeviceKind device = DeviceKind::host;
  TargetFactory make;
  std::filesystem::path plugin = {};  // empty: built into this process; of a package its folder
  std::string code_hash = {};         // of the plugin file, 32 hex digits
  bool is_package = false;            // a package of compiled kernels, see src/package
  bool is_lazy = false;               // a package under the lazily compiled launch of src/launcher
  std::string compiled_by = {};       // what made its code; empty: what this build was made with
};

// A plain value once loaded; reading it from several threads is fine. Pointers to entries are valid
// until the registry is moved, changed or destroyed.
class Registry {
 public:
  // Loads what is first tried out in a forked child, so that a plugin that exits, crashes or hangs
  // (`deadline`, each) costs a usage error and not this process. The first problem ends it. From
  // then on a function of a spec that does not return within `deadline` ends the process, with its
  // name on stderr and exit code 2: nothing can interrupt it.
  static Result<Registry> load(std::span<const std::filesystem::path> plugins,
                               std::chrono::milliseconds deadline = std::chrono::seconds(10));
  // The same without the trial: for a worker, whose driver has made it.
  static Result<Registry> load_in_worker(std::span<const std::filesystem::path> plugins);

  // Lets each plugin load its kernels: in a worker, once its device is open.
  void preload() const;

  // Adds one target, whose functions are guarded from then on (target/guarded_spec.h). A usage
  // error when its spec is invalid or (name, device) is taken.
  Result<void> add(TargetEntry entry);

  // An entry of its own, or else that of the device whose plugins it runs (core/device_traits.h).
  const TargetEntry* find(std::string_view name, DeviceKind device) const;
  // A usage error with the nearest name, or with the devices that the target does exist for.
  Result<const TargetEntry*> require(std::string_view name, DeviceKind device) const;
  // All of that name: one for each device that it exists for, in their order.
  std::span<const TargetEntry> named(std::string_view name) const;
  // The first of these, where the device does not matter: the spec is the same for all. A usage
  // error with the nearest name.
  Result<const TargetEntry*> require_any(std::string_view name) const;
  // What find() gives for each name, ascending.
  std::vector<const TargetEntry*> entries_for(DeviceKind device) const;
  // By name, then device.
  std::span<const TargetEntry> entries() const { return entries_; }
  // Each name once, ascending.
  std::vector<std::string> names() const;

 private:
  Result<void> add_plugins(std::span<const std::filesystem::path> plugins);
  const TargetEntry* find_exactly(std::string_view name, DeviceKind device) const;
  tl::unexpected<Error> unknown(std::string_view name) const;

  std::shared_ptr<SpecWatch> watch_;  // of the functions of the specs; null in a worker
  std::vector<TargetEntry> entries_;
  std::vector<void (*)()> preloads_;
};

// ../lib/redzone/targets/*.so seen from the running binary, ascending; none when it is absent.
std::vector<std::filesystem::path> shipped_plugins();

}  // namespace redzone
