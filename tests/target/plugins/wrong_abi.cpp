#include "noop.h"

static void register_targets(redzone::Registrar& registrar) {
  add_noop(registrar, "old");
}

extern "C" __attribute__((visibility("default"))) const redzone::PluginInfo* redzone_plugin() {
  static const redzone::PluginInfo info = {REDZONE_ABI_VERSION + 41, redzone::DeviceKind::host,
                                           &register_targets, nullptr};
  return &info;
}
