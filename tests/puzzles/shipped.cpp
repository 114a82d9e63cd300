#include "puzzles/shipped.h"

#include <cstdio>
#include <cstdlib>

namespace redzone::puzzles {
namespace {

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::abort();
}

}  // namespace

const Registry& shipped_registry(bool checked) {
  static const Registry registry = [&] {
    const std::filesystem::path shipped = PUZZLE_PLUGIN;
    const auto plugin = checked ? checked_build(shipped) : shipped;
    return must(Registry::load_in_worker({&plugin, 1}));
  }();
  return registry;
}

const TargetSpec& shipped_spec(std::string_view name) {
  return must(shipped_registry().require(name, DeviceKind::host))->spec;
}

}  // namespace redzone::puzzles
