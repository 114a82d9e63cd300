#include "guard/variations.h"

#include <fmt/format.h>

#include <utility>

#include "guard/names.h"

namespace redzone::guard {
namespace {

using interpose::LaunchMode;
using interpose::Placement;
using interpose::Retire;
using interpose::Settings;

std::string placement_text(Placement placement) {
  return placement == Placement::guard_after ? "guard_after" : "guard_before";
}

std::string align_text(const Settings& settings, std::uint64_t promised) {
  return std::to_string(settings.align_bytes != 0 ? settings.align_bytes : promised);
}

std::string poison_text(int poison) {
  return poison < 0 ? "none" : fmt::format("{:#04x}", poison);
}

std::string retire_text(Retire retire) {
  return retire == Retire::all ? "all" : "sample";
}

template <class Change>
Variation changed(std::string text, Settings settings, Change change) {
  change(settings);
  return {std::move(text), settings};
}

// Drops values that change nothing.
VariedSetting setting(std::string name, std::string value, const Settings& own,
                      std::vector<Variation> others) {
  std::erase_if(others, [&](const Variation& v) { return v.settings == own || v.text == value; });
  return {std::move(name), std::move(value), std::move(others)};
}

}  // namespace

std::vector<VariedSetting> variations_of(const Settings& own, const ProgramOrigin& origin,
                                         bool on_device) {
  std::vector<VariedSetting> out;
  std::vector<Variation> sides, aligns, poisons;
  for (const auto side : {Placement::guard_after, Placement::guard_before})
    sides.push_back(changed(placement_text(side), own, [&](Settings& s) { s.placement = side; }));
  out.push_back(setting("placement", placement_text(own.placement), own, std::move(sides)));
  // One alignment that leaves less slack, and one that leaves more. malloc()'s guarantee is kept,
  // because programs on the CPU crash without it.
  const std::uint64_t promised =
      on_device ? interpose::kDeviceAlignBytes : interpose::kHostAlignBytes;
  for (const std::uint64_t align : {std::uint64_t{16}, std::uint64_t{512}})
    aligns.push_back(changed(std::to_string(align), own,
                             [&](Settings& s) { s.align_bytes = align == promised ? 0 : align; }));
  out.push_back(setting("align", align_text(own, promised), own, std::move(aligns)));
  for (const int poison : {0xff, 0x00, -1})
    poisons.push_back(changed(poison_text(poison), own, [&](Settings& s) { s.poison = poison; }));
  out.push_back(setting("poison", poison_text(own.poison), own, std::move(poisons)));
  if (on_device) {
    const Retire other = own.retire == Retire::all ? Retire::sample : Retire::all;
    out.push_back(
        setting("retire", retire_text(own.retire), own,
                {changed(retire_text(other), own, [&](Settings& s) { s.retire = other; })}));
    // With a check after each launch, the launch mode has no effect, because the check waits for
    // the launch.
    std::vector<Variation> launches;
    for (const auto mode : {LaunchMode::async, LaunchMode::blocking, LaunchMode::held})
      launches.push_back(
          changed(std::string(name_of(mode)), own, [&](Settings& s) { s.launch = mode; }));
    if (own.check == interpose::Check::at_free)
      out.push_back(setting("launch", std::string(name_of(own.launch)), own, std::move(launches)));
  }
  const std::uint64_t block = origin.block;
  if (block != 0 && own.only.is_empty() && own.skip.is_empty()) {
    out.push_back(setting(fmt::format("block {}", block), "guarded", own,
                          {changed("left out", own, [&](Settings& s) {
                            s.skip = {block, block};
                          })}));
    out.push_back(
        setting("other blocks", "guarded", own, {changed("left out", own, [&](Settings& s) {
                  s.only = {block, block};
                })}));
  }
  std::erase_if(out, [](const VariedSetting& s) { return s.others.empty(); });
  return out;
}

Settings with_changes(const Settings& own, const std::vector<const Variation*>& changes) {
  Settings out = own;
  const auto take = [&](auto member) {
    for (const Variation* change : changes)
      if (change->settings.*member != own.*member) out.*member = change->settings.*member;
  };
  take(&Settings::placement);
  take(&Settings::align_bytes);
  take(&Settings::poison);
  take(&Settings::retire);
  take(&Settings::launch);
  take(&Settings::only);
  take(&Settings::skip);
  return out;
}

}  // namespace redzone::guard
