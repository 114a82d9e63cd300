// Loading one plugin into this process.
#pragma once

#include <redzone/target.h>

#include <filesystem>
#include <vector>

#include "core/error.h"

namespace redzone {

struct PluginTarget {
  TargetSpec spec;
  TargetFactory make;
};

struct LoadedPlugin {
  DeviceKind device;
  void (*preload)() = nullptr;        // see PluginInfo
  std::vector<PluginTarget> targets;  // in the order of registration; no spec is checked
};

// dlopen, entry point, ABI version, registration. A usage error names the file. Runs code of the
// plugin: what that code does beyond throwing (exit, crash, hang) happens to the caller. Plugins
// are never unloaded: specs and factories hold functions that live in them.
Result<LoadedPlugin> load_plugin(const std::filesystem::path& file);

}  // namespace redzone
