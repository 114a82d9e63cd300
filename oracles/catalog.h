// All oracles, by name. A new oracle is added in catalog.cpp; an oracle that only varies one axis
// is added as a row of the table of axes (core/mode_axes.h).
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
  // `tool`: a sanitizer that also screens each plan. `axes`: the axes that have an effect on the
  // device; a failure is attributed to no other axis. Every axis that can be varied gets a
  // comparing oracle: the one registered under its oracle name, or else an AxisOracle.
  explicit Catalog(LaunchLimits limits = {}, SanitizerTool tool = SanitizerTool::none,
                   ScreenOptions screen = {}, std::vector<ModeAxis> axes = all_mode_axes());
  // The catalog of a dry run: only oracles that need no results of kernels.
  static Catalog dry(LaunchLimits limits = {});

  // Runs two trials of every plan, and one under the tool.
  const Oracle& screen() const { return *screen_; }
  // Needs no device; judges before any trial runs.
  const Oracle& device_free() const { return *device_free_; }
  // The oracles of faults, canaries and scratch requests: one trial suffices as evidence. They
  // judge first, under several placements and launch modes.
  const std::vector<std::unique_ptr<Oracle>>& direct() const { return direct_; }
  // Oracles that find the cause of a difference; most specific first.
  const std::vector<std::unique_ptr<Oracle>>& comparing() const { return comparing_; }

  // The axes, besides the calls, on which a failure may depend.
  const std::vector<ModeAxis>& axes() const { return axes_; }

  // The oracle of one tool of compute-sanitizer, or of one check. Runs on request, or to confirm a
  // finding.
  const Oracle& sanitizer(SanitizerTool tool) const;

  // Every oracle except the screen, which combines them, and those that only find() returns.
  std::vector<const Oracle*> all() const;
  // True if no oracle needs results of kernels.
  bool is_dry() const { return dry_; }
  // Also finds oracles that all() leaves out: the screen, launch-mismatch, and the tools and
  // checks. Accepts an oracle's former name. Returns nullptr for an unknown name.
  const Oracle* find(std::string_view name) const;

 private:
  struct Dry {};
  Catalog(LaunchLimits limits, Dry);

  std::unique_ptr<Oracle> screen_;
  std::unique_ptr<Oracle> native_screen_;  // wrapped by `screen_` when a tool is set; else null
  std::unique_ptr<Oracle> device_free_;
  std::vector<std::unique_ptr<Oracle>> direct_;
  std::vector<std::unique_ptr<Oracle>> comparing_;
  std::vector<std::unique_ptr<Oracle>> by_name_;
  std::vector<ModeAxis> axes_;
  bool dry_ = false;
};

}  // namespace redzone::oracles
