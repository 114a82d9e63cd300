#include "target/registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "core/device_traits.h"
#include "core/exit_code.h"
#include "core/names.h"
#include "core/signal_line.h"
#include "core/target_text.h"
#include "core/terminal.h"
#include "target/code_hash.h"
#include "target/guarded_spec.h"
#include "target/plugin.h"
#include "target/probe.h"
#include "target/spec_check.h"

namespace redzone {
namespace {

// Prints a line to standard error. Called from any thread, also in a signal handler.
void say(std::string_view function, const SignalLine& what) {
  SignalLine line;
  constexpr std::size_t kMostOfName = 1000;  // leaves room for the reason
  line << (::isatty(STDERR_FILENO) != 0 ? "\nredzone: " : "redzone: ")
       << function.substr(0, kMostOfName) << " " << what.text();
  line.print(STDERR_FILENO);
}

// Ends a driver that cannot continue, or a worker that cannot be used; from any thread. Findings of
// a driver are already stored, and its workers end with it.
[[noreturn]] void end_process(std::string_view function, const SignalLine& why) {
  say(function, why);
  ::_exit(kUsage);
}

SignalLine not_returned(std::chrono::milliseconds limit) {
  SignalLine line;
  return line << "has not returned for " << limit.count() << " ms";
}

auto key_of(const TargetEntry& e) {
  return std::tuple(std::string_view(e.spec.name), e.device);
}

std::string path_of(const TargetEntry& e) {
  return e.origin.path.empty() ? "this program" : e.origin.path;
}

std::string source_of(const TargetEntry& e) {
  if (e.origin.path.empty()) return "plugin this program";
  return text_of(e.origin) + (e.line > 0 ? fmt::format(":{}", e.line) : "");
}

}  // namespace

Result<Registry> Registry::load(std::span<const std::filesystem::path> plugins,
                                std::chrono::milliseconds deadline,
                                const std::function<bool()>& stop) {
  RZ_TRY(probe_plugins(plugins, deadline, stop));
  Registry registry;
  registry.watch_ = std::make_shared<SpecWatch>(deadline, [deadline](const std::string& function) {
    end_process(function, not_returned(deadline));
  });
  registry.end_ = std::make_unique<SpecEnd>(
      [watch = registry.watch_] { return watch->running_name(); }, end_process);
  RZ_TRY(registry.add_plugins(plugins));
  return registry;
}

Result<Registry> Registry::load_in_worker(std::span<const std::filesystem::path> plugins) {
  Registry registry;
  RZ_TRY(registry.add_plugins(plugins));
  return registry;
}

Result<void> Registry::add_plugins(std::span<const std::filesystem::path> plugins) {
  for (const auto& file : plugins) {
    RZ_TRY_ASSIGN(auto loaded, load_plugin(file));
    RZ_TRY_ASSIGN(auto hash, code_hash(file));
    if (loaded.preload != nullptr) preloads_.push_back(loaded.preload);
    for (auto& warm_up : loaded.warm_ups) warm_ups_.push_back({file.string(), std::move(warm_up)});
    for (auto& target : loaded.targets)
      if (auto added = add({std::move(target.spec),
                            loaded.device,
                            std::move(target.make),
                            {TargetSource::plugin, file.string()},
                            hash},
                           Tried::before);
          !added)
        return added;
  }
  return {};
}

Result<void> Registry::preload(const std::function<std::string()>& wait,
                               std::chrono::milliseconds slow) const {
  for (auto* preload : preloads_) preload();
  if (warm_ups_.empty()) return {};
  SpecWatch watch(slow, [slow](const std::string& function) { say(function, not_returned(slow)); });
  const SpecEnd ends([&watch] { return watch.running_name(); }, end_process);
  for (const WarmUp& warm_up : warm_ups_) {
    auto* const function =
        watch.keep(printable(fmt::format("plugin {}: its warm-up", warm_up.plugin)));
    std::string problem;
    try {
      const SpecCalls::Running running(&watch, function);
      warm_up.function();
      if (std::string failure = wait(); !failure.empty())
        problem = "enqueued work that failed: " + target_line(failure);
    } catch (const std::exception& e) {
      problem = fmt::format("threw \"{}\"", target_line(e.what()));
    } catch (...) {
      problem = "threw something that is not a std::exception";
    }
    if (!problem.empty())
      return usage_error(fmt::format("plugin {}: its warm-up {}", warm_up.plugin, problem));
  }
  return {};
}

Result<void> Registry::add(TargetEntry entry) {
  return add(std::move(entry), Tried::now);
}

Result<void> Registry::add(TargetEntry entry, Tried tried) {
  const std::string from = source_of(entry);
  RZ_TRY(tried == Tried::before ? check_declaration(entry.spec, from)
                                : check_spec(entry.spec, from, watch_));
  auto at = std::lower_bound(
      entries_.begin(), entries_.end(), entry,
      [](const TargetEntry& a, const TargetEntry& b) { return key_of(a) < key_of(b); });
  if (at != entries_.end() && key_of(*at) == key_of(entry))
    return usage_error(fmt::format("{}: duplicate target name '{}' for device {}, also in {}", from,
                                   entry.spec.name, name_of(entry.device), path_of(*at)));
  entry.spec = guarded(std::move(entry.spec), watch_);
  entries_.insert(at, std::move(entry));
  return {};
}

const TargetEntry* Registry::find(std::string_view name, DeviceKind device) const {
  const TargetEntry* entry = find_exactly(name, device);
  const auto& other = traits_of(device).targets.runs_plugins_of;
  return entry != nullptr || !other ? entry : find_exactly(name, *other);
}

std::vector<const TargetEntry*> Registry::entries_for(DeviceKind device) const {
  std::vector<const TargetEntry*> out;
  for (const auto& name : names())
    if (const TargetEntry* entry = find(name, device)) out.push_back(entry);
  return out;
}

const TargetEntry* Registry::find_exactly(std::string_view name, DeviceKind device) const {
  const auto key = std::tuple(name, device);
  auto at = std::lower_bound(entries_.begin(), entries_.end(), key,
                             [](const TargetEntry& e, const auto& k) { return key_of(e) < k; });
  return at != entries_.end() && key_of(*at) == key ? &*at : nullptr;
}

Result<const TargetEntry*> Registry::require(std::string_view name, DeviceKind device) const {
  if (const TargetEntry* entry = find(name, device)) return entry;
  std::vector<std::string_view> devices;
  for (const auto& e : named(name)) devices.push_back(name_of(e.device));
  if (!devices.empty())
    return usage_error(fmt::format("target '{}' is not built for device {}, only for {}", name,
                                   name_of(device), fmt::join(devices, ", ")));
  return unknown(name);
}

std::span<const TargetEntry> Registry::named(std::string_view name) const {
  const auto is_before = [](const TargetEntry& e, std::string_view n) { return e.spec.name < n; };
  const auto begin = std::lower_bound(entries_.begin(), entries_.end(), name, is_before);
  const auto end =
      std::find_if(begin, entries_.end(), [&](const auto& e) { return e.spec.name != name; });
  return {begin, end};
}

Result<const TargetEntry*> Registry::require_any(std::string_view name) const {
  if (const auto all = named(name); !all.empty()) return &all.front();
  return unknown(name);
}

tl::unexpected<Error> Registry::unknown(std::string_view name) const {
  return usage_error(fmt::format("unknown target '{}'{}", name, did_you_mean(name, names())));
}

void Registry::set_worker_environment(WorkerEnvironment environment) {
  worker_environment_ = std::move(environment);
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const auto& e : entries_)
    if (names.empty() || names.back() != e.spec.name) names.push_back(e.spec.name);
  return names;
}

std::filesystem::path checked_build(const std::filesystem::path& plugin) {
  return plugin.parent_path() / "checked" / plugin.filename();
}

std::string problem_of_checked_build(const std::filesystem::path& checked) {
  const auto plugin = checked.parent_path().parent_path() / checked.filename();
  std::error_code no_plugin, no_checked;
  const auto of_plugin = std::filesystem::last_write_time(plugin, no_plugin);
  const auto of_checked = std::filesystem::last_write_time(checked, no_checked);
  const std::string name = checked.filename().string();
  const std::string how =
      fmt::format("(one that ships: `ninja -C build {}_checked`)", name.substr(0, name.find('.')));
  if (no_checked)
    return fmt::format("{} has no build for checks, as {} would be {}", plugin.string(),
                       checked.string(), how);
  if (no_plugin || of_checked >= of_plugin) return "";
  return fmt::format("{} is older than {}: build it again {}", checked.string(), plugin.string(),
                     how);
}

std::vector<std::filesystem::path> shipped_plugins() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto folder = self.parent_path().parent_path() / "lib" / "redzone" / "targets";
  std::vector<std::filesystem::path> plugins;
  for (const auto& file : std::filesystem::directory_iterator(folder, error))
    if (file.path().extension() == ".so") plugins.push_back(file.path());
  std::sort(plugins.begin(), plugins.end());
  return plugins;
}

}  // namespace redzone
