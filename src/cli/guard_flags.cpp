#include "cli/guard_flags.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "core/names.h"
#include "guard/names.h"
#include "guard/script.h"
#include "interpose/kernel_filter.h"

namespace redzone::cli {
namespace {

constexpr std::uint64_t kMostPoison = 255;
constexpr std::string_view kNoPoison = "none";

Result<int> poison_of(const std::string& text) {
  if (text == kNoPoison) return -1;
  const bool is_hex = text.starts_with("0x");
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (read.ec != std::errc{} || read.ptr != end || value > kMostPoison)
    return usage_error(
        fmt::format("guard: --poison: '{}': must be 0 to 255, 0x0 to 0xff, or none", text));
  return static_cast<int>(value);
}

template <class T>
Result<T> choice(const po::variables_map& flags, const char* flag,
                 std::initializer_list<std::pair<T, const char*>> table) {
  return value_in(std::vector<std::pair<T, const char*>>(table), flags[flag].as<std::string>(),
                  std::string("--") + flag);
}

Result<interpose::BlockRange> blocks_flag(const po::variables_map& flags, const char* name) {
  if (flags.count(name) == 0) return interpose::BlockRange{};
  return parse_blocks(flags[name].as<std::string>(), name);
}

// True if the guard acts at each launch.
bool waits_at_launches(const interpose::Settings& settings) {
  return settings.launch != interpose::LaunchMode::async ||
         settings.check != interpose::Check::at_free;
}

Result<void> set_kernels(const po::variables_map& flags, interpose::Settings& settings) {
  if (flags.count("kernels") == 0) return {};
  const auto& pattern = flags["kernels"].as<std::string>();
  if (pattern.empty() || pattern.size() >= sizeof settings.kernels ||
      pattern.find('\0') != std::string::npos)
    return usage_error(
        fmt::format("guard: --kernels: must have 1 to {} bytes", sizeof settings.kernels - 1));
  if (char wrong[128]; interpose::KernelFilter::problem(pattern.c_str(), wrong, sizeof wrong))
    return usage_error(fmt::format("guard: --kernels '{}': {}", pattern, wrong));
  const bool each_launch =
      waits_at_launches(settings) || (flags.count("narrow") != 0 && flags["narrow"].as<bool>());
  if (!each_launch)
    return usage_error(
        "guard: --kernels has no effect without --launch blocking, --launch held, --check "
        "each-launch or --narrow");
  pattern.copy(settings.kernels, pattern.size());
  return {};
}

// Rejects flags for features that --bare turns off.
Result<void> nothing_beside_bare(const po::variables_map& flags) {
  for (const char* name : {"poison", "retire", "check", "on-error"})
    if (!flags[name].defaulted())
      return usage_error(fmt::format("guard: --{} has no effect with --bare", name));
  if (flags["cpu"].as<bool>())
    return usage_error("guard: --bare is about a device, so it has no effect with --cpu");
  return {};
}

}  // namespace

void add_guard_settings_flags(po::options_description& flags) {
  flags.add_options()("cpu", po::bool_switch(), "guard malloc() and its relatives as well")(
      "placement", po::value<std::string>()->default_value("guard_after"),
      "guard_after or guard_before: on which side of each block the guard page is")(
      "align", po::value<Count>(),
      "alignment of blocks in bytes, a power of two up to 4096 (default: 256 on a device, 16 on "
      "the CPU, as their allocators promise); a smaller one leaves less slack")(
      "poison", po::value<std::string>()->default_value("0xff"),
      "byte that fills new and freed memory, or none")(
      "retire", po::value<std::string>()->default_value("sample"),
      "sample or all: how many freed blocks of a device are unmapped; on the CPU all are")(
      "bare", po::bool_switch(),
      "guard pages alone, for a device: no poison, no canaries, and nothing that is freed is "
      "unmapped")(
      "max-memory", po::value<Count>(),
      "device memory in MiB beyond which small blocks share their slots (default: half of it)")(
      "min-bytes", po::value<Count>()->default_value(Count{1024}),
      "smallest block of malloc() that is guarded")(
      "launch", po::value<std::string>()->default_value("async"),
      "async: do not wait; blocking: wait for each launch; held: delay streams that --seed chooses "
      "by up to 3 ms")("seed", po::value<Count>()->default_value(Count{1}),
                       "seed of what --runs varies, and of what --launch held stops")(
      "check", po::value<std::string>()->default_value("free"),
      "free or each-launch: when canaries of live blocks of a device are compared; each-launch "
      "waits for each, and names the one after which a canary was wrong")(
      "on-error", po::value<std::string>()->default_value("stop"),
      "stop: end the program at the first error; continue: back guard pages with memory. On a "
      "device writes are then reported without their block, and reads are not reported")(
      "kernels", po::value<std::string>(),
      "apply --launch, --check and --narrow only to kernels whose mangled or demangled "
      "name matches this POSIX extended regular expression")(
      "no-python-stacks", po::bool_switch(), "take no stacks of the Python interpreter")(
      "only", po::value<std::string>(),
      "guard these blocks alone: '7' or '100-200', by their numbers in each process")(
      "skip", po::value<std::string>(), "guard all blocks but these: '7' or '100-200'");
}

Result<interpose::BlockRange> parse_blocks(const std::string& text, std::string_view flag) {
  interpose::BlockRange out;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, out.first);
  out.last = out.first;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-')
    read = std::from_chars(read.ptr + 1, end, out.last);
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (read.ec != std::errc{} || read.ptr != end || out.first == 0 || out.first > out.last ||
      out.last > most)
    return usage_error(fmt::format(
        "guard: --{}: '{}': must be a number of a block, or two as '100-200'", flag, text));
  return out;
}

Result<interpose::Placement> guard_placement(const po::variables_map& flags) {
  using interpose::Placement;
  return choice<Placement>(
      flags, "placement",
      {{Placement::guard_after, "guard_after"}, {Placement::guard_before, "guard_before"}});
}

std::string words_of(const interpose::Settings& settings) {
  const interpose::Settings usual;
  std::string out;
  const auto add = [&](std::string_view flag, const std::string& value) {
    out += fmt::format("{}--{} {}", out.empty() ? "" : " ", flag, value);
  };
  const auto add_blocks = [&](std::string_view flag, const interpose::BlockRange& blocks) {
    if (!blocks.is_empty()) add(flag, fmt::format("{}-{}", blocks.first, blocks.last));
  };
  const auto add_switch = [&](std::string_view flag) {
    out += fmt::format("{}--{}", out.empty() ? "" : " ", flag);
  };
  if (settings.cpu) add_switch("cpu");
  if (!settings.python) add_switch("no-python-stacks");
  if (settings.placement != usual.placement) add("placement", "guard_before");
  if (settings.align_bytes != 0) add("align", std::to_string(settings.align_bytes));
  switch (settings.hooks) {
    case interpose::kTorchHook:
      add("framework", "torch-pluggable");
      break;
    case interpose::kCupyHook:
      add("framework", "cupy");
      break;
    case interpose::kTorchHook | interpose::kCupyHook:
      add("framework", "auto");
      break;
    default:
      break;
  }
  if (settings.bare)
    add_switch("bare");
  else if (settings.poison != usual.poison)
    add("poison", settings.poison < 0 ? std::string(kNoPoison) : std::to_string(settings.poison));
  if (settings.retire != usual.retire) add("retire", "all");
  if (settings.max_memory_bytes != 0)
    add("max-memory", std::to_string(settings.max_memory_bytes >> 20));
  if (settings.min_bytes != usual.min_bytes) add("min-bytes", std::to_string(settings.min_bytes));
  if (settings.launch != usual.launch) add("launch", std::string(name_of(settings.launch)));
  if (settings.launch == interpose::LaunchMode::held) add("seed", std::to_string(settings.seed));
  if (settings.check != usual.check) add("check", std::string(name_of(settings.check)));
  if (settings.on_error != usual.on_error) add("on-error", std::string(name_of(settings.on_error)));
  // Omitted if no launch is waited for, because then only --narrow used the pattern.
  if (settings.kernels[0] != '\0' && waits_at_launches(settings))
    add("kernels", guard::sh_word(settings.kernels));
  add_blocks("only", settings.only);
  add_blocks("skip", settings.skip);
  return out;
}

Result<void> only_flags_of_programs(const po::variables_map& flags,
                                    std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (flags.count(name) != 0 && !flags[name].defaulted())
      return usage_error(fmt::format("--{}: the finding is of a program, which has no plan", name));
  return {};
}

Result<interpose::Settings> guard_settings(const po::variables_map& flags) {
  using interpose::Retire;
  interpose::Settings out;
  out.cpu = flags["cpu"].as<bool>();
  out.bare = flags["bare"].as<bool>();
  RZ_TRY_ASSIGN(out.placement, guard_placement(flags));
  RZ_TRY_ASSIGN(out.retire, choice<Retire>(flags, "retire",
                                           {{Retire::sample, "sample"}, {Retire::all, "all"}}));
  RZ_TRY_ASSIGN(out.poison, poison_of(flags["poison"].as<std::string>()));
  if (out.bare) {
    RZ_TRY(nothing_beside_bare(flags));
    out.poison = -1;
  }
  if (flags.count("align") != 0) {
    out.align_bytes = flags["align"].as<Count>().value;
    if (!std::has_single_bit(out.align_bytes) || out.align_bytes > interpose::kMostAlignBytes)
      return usage_error(fmt::format("guard: --align {}: must be a power of two, at most {}",
                                     out.align_bytes, interpose::kMostAlignBytes));
  }
  constexpr std::uint64_t most_mib = std::uint64_t{1} << 24;  // 16 TiB
  if (flags.count("max-memory") != 0) {
    const auto mib = flags["max-memory"].as<Count>().value;
    if (mib == 0 || mib > most_mib)
      return usage_error(fmt::format("guard: --max-memory: must be 1 to {} MiB", most_mib));
    out.max_memory_bytes = mib << 20;
  }
  out.min_bytes = flags["min-bytes"].as<Count>().value;
  if (out.min_bytes == 0 || out.min_bytes > (most_mib << 20))
    return usage_error("guard: --min-bytes: must be at least 1");
  RZ_TRY_ASSIGN(out.launch, parse_name<interpose::LaunchMode>(flags["launch"].as<std::string>()));
  RZ_TRY_ASSIGN(out.check, parse_name<interpose::Check>(flags["check"].as<std::string>()));
  RZ_TRY_ASSIGN(out.on_error, parse_name<interpose::OnError>(flags["on-error"].as<std::string>()));
  out.python = !flags["no-python-stacks"].as<bool>();
  out.seed = flags["seed"].as<Count>().value;
  // The text form of the settings has signed numbers.
  constexpr std::uint64_t most_seed = std::numeric_limits<std::int64_t>::max();
  if (out.seed > most_seed)
    return usage_error(fmt::format("guard: --seed: must be at most {}", most_seed));
  RZ_TRY_ASSIGN(out.only, blocks_flag(flags, "only"));
  RZ_TRY_ASSIGN(out.skip, blocks_flag(flags, "skip"));
  RZ_TRY(set_kernels(flags, out));
  return out;
}

guard::Varied varied_settings(const po::variables_map& flags) {
  return {.placement = flags["placement"].defaulted(),
          .poison = flags["poison"].defaulted() && !flags["bare"].as<bool>(),
          .retire = flags["retire"].defaulted() && !flags["bare"].as<bool>()};
}

}  // namespace redzone::cli
