// The entry point of a plugin for a library. Unlike REDZONE_PLUGIN it also prepares the library in
// a worker, before its first trial: creating a handle waits for the device, which would never
// finish while a launch is blocked.
#pragma once

#include <redzone/target.h>

namespace redzone::libraries {

#ifdef __CUDACC__
inline constexpr DeviceKind kPluginDevice = DeviceKind::cuda;
#else
inline constexpr DeviceKind kPluginDevice = DeviceKind::host;
#endif

// `prepare` runs only on a GPU, after the kernels of the plugin are loaded.
template <void (*prepare)()>
void preload() {
#ifdef __CUDACC__
  redzone::detail::preload();
  prepare();
#endif
}

// The usual preparation: loads the library and creates its handle.
template <auto& library>
void prepare() {
  library();
}

template <void (*add_targets)(Registrar&), void (*prepare)()>
const PluginInfo* plugin_info() {
  static const PluginInfo info = {REDZONE_ABI_VERSION, kPluginDevice, add_targets,
                                  &preload<prepare>};
  return &info;
}

}  // namespace redzone::libraries

// Each plugin defines this once:
//   REDZONE_LIBRARY_ENTRY { return redzone::libraries::plugin_info<add_targets, prepare>(); }
#define REDZONE_LIBRARY_ENTRY \
  extern "C" __attribute__((visibility("default"))) const ::redzone::PluginInfo* redzone_plugin()
