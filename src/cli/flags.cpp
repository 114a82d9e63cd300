#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>

#include "core/device_traits.h"
#include "core/names.h"
#include "core/plan_text.h"
#include "core/terminal.h"
#include "device/devices.h"
#include "package/packages.h"

namespace redzone::cli {

std::istream& operator>>(std::istream& in, Count& count) {
  if (in.peek() == '-') in.setstate(std::ios::failbit);
  return in >> count.value;
}

std::ostream& operator<<(std::ostream& out, Count count) {
  return out << count.value;
}

void add_json_flag(po::options_description& flags) {
  flags.add_options()("json", po::bool_switch(), "print JSON");
}

void add_db_flag(po::options_description& flags) {
  flags.add_options()("db", po::value<std::string>()->default_value("redzone.db"),
                      "the store, an SQLite file");
}

void add_device_flag(po::options_description& flags) {
  flags.add_options()("device", po::value<std::string>()->default_value("auto"),
                      "auto, cuda, host or dry-run; auto: the GPU if there is one, dry-run: runs "
                      "no kernel, judges launchers only");
}

void add_plugin_flag(po::options_description& flags) {
  flags.add_options()("plugin", po::value<std::vector<std::string>>()->composing(),
                      "plugin to load in addition to the shipped ones; repeatable");
}

void add_package_flag(po::options_description& flags) {
  flags.add_options()("package", po::value<std::vector<std::string>>()->composing(),
                      "package of compiled Triton kernels to load; repeatable");
}

void add_python_flag(po::options_description& flags) {
  flags.add_options()(
      "python", po::value<std::string>(),
      "interpreter for Python files (default: that of the active environment, else python3)");
}

void add_target_flags(po::options_description& flags) {
  add_plugin_flag(flags);
  add_package_flag(flags);
  flags.add_options()("python-file", po::value<std::vector<std::string>>()->composing(),
                      "file of Python targets to load; repeatable");
  add_python_flag(flags);
}

void add_sanitizer_flag(po::options_description& flags) {
  flags.add_options()("sanitizer", po::value<std::string>(),
                      "compute-sanitizer's memcheck, racecheck, initcheck or synccheck (cuda)")(
      "checks", po::value<std::string>(),
      "run each plan also with plugins that were built for checks (host): races, init, sync or "
      "undefined");
}

void add_compile_flag(po::options_description& flags) {
  flags.add_options()("compilers", po::value<Count>(),
                      "processes that compile kernels of upcoming plans (cuda; default: by cores)");
}

void add_worker_flags(po::options_description& flags) {
  flags.add_options()(
      "deadline", po::value<std::string>(),
      "time limit of a trial; a longer one is a hang (default: 2s on host, 5s on cuda)")(
      "workers", po::value<Count>(), "warm worker processes (default: by device and cores)");
}

Result<SanitizerTool> sanitizer_flag(const po::variables_map& flags) {
  const bool tool = flags.count("sanitizer") != 0, check = flags.count("checks") != 0;
  if (!tool && !check) return SanitizerTool::none;
  if (tool && check) return usage_error("--sanitizer and --checks: give one of them");
  const auto& name = flags[check ? "checks" : "sanitizer"].as<std::string>();
  auto parsed = parse_name<SanitizerTool>(name);
  if (check && !(parsed && is_check(*parsed)))
    return usage_error(fmt::format("--checks {}: races, init, sync or undefined", name));
  RZ_TRY_ASSIGN(const auto named, std::move(parsed));
  if (tool && is_check(named))
    return usage_error(fmt::format("--sanitizer {0}: write --checks {0}", name));
  return named;
}

Result<std::optional<Launch>> launch_flag(const po::variables_map& flags) {
  if (flags.count("launch") == 0) return std::nullopt;
  return parse_name<Launch>(flags["launch"].as<std::string>());
}

Result<std::optional<Allocator>> allocator_flag(const po::variables_map& flags) {
  if (flags.count("allocator") == 0) return std::nullopt;
  return parse_name<Allocator>(flags["allocator"].as<std::string>());
}

bool json_wanted(const po::variables_map& flags) {
  return flags["json"].as<bool>();
}

std::string db_for_commands(const po::variables_map& flags) {
  return flags["db"].defaulted() ? "" : flags["db"].as<std::string>();
}

Result<store::Store> open_store(const po::variables_map& flags, store::OpenMode mode) {
  return store::Store::open(flags["db"].as<std::string>(), mode);
}

Result<DeviceKind> chosen_device(const po::variables_map& flags) {
  const auto& name = flags["device"].as<std::string>();
  auto kind = name == "auto" ? device::best_kind() : parse_device_kind(name);
  // best_kind() has already looked for a GPU, which takes some time.
  if (!kind || (name == "auto" && !traits_of(*kind).execution.on_host_cores)) return kind;
  if (const auto missing = device::look_for(*kind).problem; !missing.empty())
    return harness_error(fmt::format("device {} is not usable here: {}", name_of(*kind), missing));
  return kind;
}

Result<void> check_flags_of(std::string_view command, std::string_view action,
                            const po::variables_map& given, std::span<const FlagOfActions> flags) {
  for (const auto& [flag, actions] : flags) {
    const auto found = given.find(std::string(flag));
    const bool is_given = found != given.end() && !found->second.defaulted();
    if (is_given && std::find(actions.begin(), actions.end(), action) == actions.end())
      return usage_error(fmt::format("{} {}: takes no --{}, which is for {}", command, action, flag,
                                     fmt::join(actions, " and ")));
  }
  return {};
}

std::vector<std::string> given_words(const po::variables_map& flags, std::string_view but_not) {
  std::vector<std::string> words;
  for (const auto& [name, value] : flags) {
    if (value.defaulted() || name == but_not) continue;
    const auto add = [&words, flag = "--" + name](const std::string& text) {
      words.push_back(flag);
      words.push_back(text);
    };
    if (const auto* text = boost::any_cast<std::string>(&value.value()))
      add(*text);
    else if (const auto* count = boost::any_cast<Count>(&value.value()))
      add(std::to_string(count->value));
    else if (const auto* texts = boost::any_cast<std::vector<std::string>>(&value.value()))
      for (const auto& each : *texts) add(each);
    else if (const auto* number = boost::any_cast<int>(&value.value()))
      add(std::to_string(*number));
    else if (boost::any_cast<bool>(&value.value()) != nullptr)
      words.push_back("--" + name);
  }
  return words;
}

std::string given_flags(const po::variables_map& flags, std::string_view but_not) {
  return shell_quoted(given_words(flags, but_not));
}

std::vector<std::filesystem::path> plugin_paths(const po::variables_map& flags) {
  auto paths = shipped_plugins();
  if (flags.count("plugin") != 0)
    for (const auto& p : flags["plugin"].as<std::vector<std::string>>()) paths.emplace_back(p);
  return paths;
}

std::vector<std::filesystem::path> package_paths(const po::variables_map& flags) {
  auto paths = package::shipped_packages();
  if (flags.count("package") != 0)
    for (const auto& p : flags["package"].as<std::vector<std::string>>()) paths.emplace_back(p);
  return paths;
}

std::string python_flag(const po::variables_map& flags) {
  return flags.count("python") == 0 ? "" : flags["python"].as<std::string>();
}

bool is_python_file(std::string_view word) {
  return word.ends_with(".py");
}

std::vector<std::filesystem::path> python_paths(const po::variables_map& flags) {
  std::vector<std::filesystem::path> paths;
  for (const char* name : {"target", "python-file"})
    if (flags.count(name) != 0)
      for (const auto& word : flags[name].as<std::vector<std::string>>())
        if (name != std::string_view("target") || is_python_file(word)) paths.emplace_back(word);
  return paths;
}

Result<std::chrono::milliseconds> parse_duration(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  double ms = std::numeric_limits<double>::quiet_NaN();  // NaN for an unknown unit
  if (unit == "ms")
    ms = number;
  else if (unit.empty() || unit == "s")
    ms = number * 1e3;
  else if (unit == "m")
    ms = number * 60e3;
  else if (unit == "h")
    ms = number * 3600e3;
  constexpr double kMostHours = 100'000;
  if (error == std::errc() && std::isfinite(ms) && ms > kMostHours * 3600e3)
    return usage_error(fmt::format("'{}' is more than {:.0f}h", text, kMostHours));
  if (error == std::errc() && ms < 1)
    return usage_error(fmt::format("'{}' is less than 1ms", text));
  if (error != std::errc() || !std::isfinite(ms))
    return usage_error(
        fmt::format("'{}' is not a duration: a number and ms, s, m or h is expected", text));
  return std::chrono::milliseconds(static_cast<std::int64_t>(ms));
}

Result<std::optional<std::chrono::milliseconds>> duration_flag(const po::variables_map& flags,
                                                               const char* name) {
  if (flags.count(name) == 0) return std::nullopt;
  auto parsed = parse_duration(flags[name].as<std::string>());
  if (!parsed) return usage_error(fmt::format("--{}: {}", name, parsed.error().message));
  return *parsed;
}

namespace {

std::optional<std::int64_t> positive_number(const std::string& word) {
  std::int64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || rest != end || number < 1) return std::nullopt;
  return number;
}

}  // namespace

Result<std::int64_t> parse_id(const std::string& word) {
  if (const auto id = positive_number(word)) return *id;
  return usage_error(fmt::format("'{}' is not a finding number (see 'redzone findings')", word));
}

Result<std::int64_t> parse_night(const std::string& word) {
  if (const auto night = positive_number(word)) return *night;
  return usage_error(fmt::format("--night: '{}' is not a night number", word));
}

}  // namespace redzone::cli
