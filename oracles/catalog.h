// All oracles, by name. A new oracle is added here, and one that varies an axis and needs no
// judgement of its own with its axis (core/mode_axes.h).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/launch_limits.h"
#include "core/mode_axes.h"
#include "core/oracle.h"
#include "oracles/screen.h"

namespace redzone::oracles {

class Catalog {
 public:
  // `tool`: what each plan is screened with, too. `axes`: those that have an effect on the device;
  // no failure is said to depend on another one. Each that can be varied is compared along: by the
  // oracle of its name that is here, and else by an AxisOracle.
  explicit Catalog(LaunchLimits limits = {}, SanitizerTool tool = SanitizerTool::none,
                   ScreenOptions screen = {}, std::vector<ModeAxis> axes = all_mode_axes());
  // Of the device that runs nothing: only oracles that need no results.
  static Catalog dry(LaunchLimits limits = {});

  // Two trials for every plan, and one under the tool.
  const Oracle& screen() const { return *screen_; }
  // Needs no device; asked before any trial.
  const Oracle& device_free() const { return *device_free_; }
  // Faults, canaries and requests for scratch: one trial says it. Asked first, under several
  // placements and launches.
  const std::vector<std::unique_ptr<Oracle>>& direct() const { return direct_; }
  // What a difference is due to; most specific first.
  const std::vector<std::unique_ptr<Oracle>>& comparing() const { return comparing_; }

  // What a failure may depend on, beside the calls.
  const std::vector<ModeAxis>& axes() const { return axes_; }

  // One for each tool of compute-sanitizer. Asked on request, or for the last word on a finding.
  const Oracle& sanitizer(SanitizerTool tool) const;

  // Every oracle but the screen, which is made of them, and those of compute-sanitizer.
  std::vector<const Oracle*> all() const;
  // No oracle of it needs results.
  bool is_dry() const { return dry_; }
  // Also of those that are asked for by name alone: what the dry catalog has besides, and the tools
  // of compute-sanitizer. nullptr for an unknown name.
  // Of a name that an oracle had first, that oracle.
  const Oracle* find(std::string_view name) const;

 private:
  struct Dry {};
  Catalog(LaunchLimits limits, Dry);

  std::unique_ptr<Oracle> screen_;
  std::unique_ptr<Oracle> native_screen_;  // where `screen_` adds to it; else null
  std::unique_ptr<Oracle> device_free_;
  std::vector<std::unique_ptr<Oracle>> direct_;
  std::vector<std::unique_ptr<Oracle>> comparing_;
  std::vector<std::unique_ptr<Oracle>> by_name_;
  std::vector<ModeAxis> axes_;
  bool dry_ = false;
};

}  // namespace redzone::oracles
