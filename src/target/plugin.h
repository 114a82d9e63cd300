// Loads one plugin into this process.
#pragma once

#include <redzone/target.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "core/error.h"

namespace redzone {

struct PluginTarget {
  TargetSpec spec;
  TargetFactory make;
};

struct LoadedPlugin {
  DeviceKind device;
  void (*preload)() = nullptr;                       // see PluginInfo
  std::vector<std::function<void()>> warm_ups = {};  // see Registrar
  std::vector<PluginTarget> targets = {};  // in the order of registration; specs are not checked
};

// dlopen, entry point, ABI version, registration. A usage error names the file. Runs code of the
// plugin: if it exits, crashes or hangs, so does the caller; exceptions are caught. Plugins are
// never unloaded, because specs and factories hold functions that live in them.
Result<LoadedPlugin> load_plugin(const std::filesystem::path& file);

}  // namespace redzone
