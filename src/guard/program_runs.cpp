#include "guard/program_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace redzone::guard {
namespace {

// Poisons that programs react to in different ways: NaN, zero, a small number, an odd pattern.
constexpr std::array kPoisons{0xff, 0x00, 0x01, 0x7f};

// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

interpose::Placement other_side(interpose::Placement placement) {
  using enum interpose::Placement;
  return placement == guard_after ? guard_before : guard_after;
}

}  // namespace

std::vector<JoinedFinding> joined_findings(std::span<const ProgramRun> runs) {
  std::vector<JoinedFinding> out;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& distinct : runs[i].findings()) {
      const auto [at, is_new] = known.emplace(distinct.key, out.size());
      if (is_new) {
        out.push_back({distinct, i, 0});
      } else {
        out[at->second].distinct.times += distinct.times;
      }
      ++out[at->second].seen_in;
    }
  return out;
}

ProgramRun joined(std::span<const ProgramRun> runs) {
  const auto failed = std::find_if(runs.begin(), runs.end(), [](const auto& run) {
    return run.ended.exit_code != 0 || run.ended.over_time;
  });
  ProgramRun out = runs.front();
  if (failed != runs.end()) out.ended = failed->ended;
  for (const auto& run : runs.subspan(1)) {
    out.processes.insert(out.processes.end(), run.processes.begin(), run.processes.end());
    out.unreadable += run.unreadable;
  }
  return out;
}

interpose::Settings settings_of_run(const interpose::Settings& settings, const Varied& varied,
                                    std::uint64_t seed, std::size_t number) {
  interpose::Settings out = settings;
  if (number == 0) return out;
  const std::uint64_t drawn = mixed(seed ^ mixed(number));
  if (varied.placement && number % 2 == 1) out.placement = other_side(settings.placement);
  if (varied.poison) out.poison = kPoisons[drawn % kPoisons.size()];
  if (varied.retire)
    out.retire = (drawn >> 32) % 2 == 0 ? interpose::Retire::sample : interpose::Retire::all;
  // Each run holds other streams. The text of the settings uses signed numbers.
  if (out.launch == interpose::LaunchMode::held)
    out.seed = drawn & std::numeric_limits<std::int64_t>::max();
  return out;
}

std::string varied_text(const interpose::Settings& settings) {
  return fmt::format(
      "{}, poison {}, retire {}{}",
      settings.placement == interpose::Placement::guard_after ? "guard_after" : "guard_before",
      settings.poison < 0 ? "none" : fmt::format("{:#04x}", settings.poison),
      settings.retire == interpose::Retire::all ? "all" : "sample",
      settings.launch == interpose::LaunchMode::held ? fmt::format(", seed {}", settings.seed)
                                                     : "");
}

}  // namespace redzone::guard
