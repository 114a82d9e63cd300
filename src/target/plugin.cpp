#include "target/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>

#include "core/device_traits.h"
#include "core/target_text.h"

namespace redzone {
namespace {

class Collector final : public Registrar {
 public:
  explicit Collector(LoadedPlugin& loaded) : loaded_(loaded) {}
  void add(TargetSpec spec, TargetFactory make) override {
    loaded_.targets.push_back({std::move(spec), std::move(make)});
  }
  void warm_up(std::function<void()> function) override {
    loaded_.warm_ups.push_back(std::move(function));
  }

 private:
  LoadedPlugin& loaded_;
};

// A problem with the file itself, found before loading; "" if it is an ELF file.
std::string file_problem(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::none) return error.message();
  if (!std::filesystem::exists(status)) return "no such file";
  if (!std::filesystem::is_regular_file(status)) return "not a file";
  std::ifstream in(file, std::ios::binary);
  if (!in) return "cannot be read";
  char magic[4] = {};
  in.read(magic, sizeof magic);
  if (std::string_view(magic, sizeof magic) !=
      "\x7f"
      "ELF")
    return "not a shared object";
  return {};
}

using EntryPoint = const PluginInfo* (*)();

// Exceptions of the plugin propagate.
Result<LoadedPlugin> load_checked(const std::filesystem::path& file) {
  const auto fail = [&](std::string_view what) {
    return usage_error(fmt::format("plugin {}: {}", file.string(), what));
  };
  if (const std::string problem = file_problem(file); !problem.empty()) return fail(problem);

  void* handle = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(fmt::format("cannot be loaded: {}", dlerror()));
  const auto entry = reinterpret_cast<EntryPoint>(dlsym(handle, "redzone_plugin"));
  if (entry == nullptr)
    return fail("has no symbol redzone_plugin: define it with REDZONE_PLUGIN(registrar)");
  const PluginInfo* info = entry();
  if (info == nullptr) return fail("redzone_plugin() returned null");
  if (info->abi_version != REDZONE_ABI_VERSION)
    return fail(fmt::format("has ABI version {}, this build has {}: recompile it",
                            info->abi_version, REDZONE_ABI_VERSION));
  const DeviceTraits* device = find_traits(info->device);
  if (device == nullptr || device->targets.runs_plugins_of || info->register_targets == nullptr)
    return fail("redzone_plugin() returned an unknown device or no register function");

  LoadedPlugin loaded{.device = info->device, .preload = info->preload};
  Collector collector(loaded);
  info->register_targets(collector);
  for (const auto& target : loaded.targets)
    if (!target.make) return fail(fmt::format("target '{}' has no factory", target.spec.name));
  for (const auto& warm_up : loaded.warm_ups)
    if (!warm_up) return fail("registers an empty function to warm up");
  return loaded;
}

}  // namespace

Result<LoadedPlugin> load_plugin(const std::filesystem::path& file) {
  std::string thrown;
  try {
    return load_checked(file);
  } catch (const SpecError& e) {
    thrown = target_line(e.what());
  } catch (const std::exception& e) {
    thrown = fmt::format("threw \"{}\" while loading", target_line(e.what()));
  } catch (...) {
    thrown = "threw something that is not a std::exception while loading";
  }
  return usage_error(fmt::format("plugin {}: {}", file.string(), thrown));
}

}  // namespace redzone
