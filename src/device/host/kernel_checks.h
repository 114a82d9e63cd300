// Runs a check around the launches of a device: connects the check to the code of a kernel, and
// converts its findings to records.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/host/checked_code.h"
#include "device/host/engine.h"
#include "device/host/race_check.h"
#include "device/host/sighting_check.h"
#include "device/host/source_lines.h"

namespace redzone::device {

class KernelChecks {
 public:
  // Requires is_check(tool). `memory`: as in RaceCheck.
  KernelChecks(SanitizerTool tool, std::vector<MemoryRange> memory);

  // The check for this launch. Null, with a problem in the report, if the kernel was not built for
  // checks.
  KernelCheck* begin_launch(const Grid& grid);
  void end_launch(const Grid& grid);
  CheckReport take();

 private:
  SanitizerRecord record_of(const Race& race, const Grid& grid);
  SanitizerRecord record_of(const Sighting& sighting, const Grid& grid);
  std::string access_text(const RaceAccess& access, const Grid& grid);
  void report_races(const Grid& grid);
  void report_sightings(const Grid& grid);
  KernelCheck& check() const;

  SourceLines lines_;
  // Exactly one of the two is set.
  std::unique_ptr<RaceCheck> races_;
  std::unique_ptr<SightingCheck> sightings_;
  CheckedCode code_;
  const std::byte* begin_ = nullptr;  // base address of the running kernel's code
  CheckReport report_;
};

}  // namespace redzone::device
