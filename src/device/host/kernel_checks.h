// A check around the launches of a device: connects it with the code of a kernel, and makes records
// of what it finds.
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

  // The check for this launch; null, which is a problem of the report, if the kernel was not built
  // for it.
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
  // One of the two.
  std::unique_ptr<RaceCheck> races_;
  std::unique_ptr<SightingCheck> sightings_;
  CheckedCode code_;
  const std::byte* begin_ = nullptr;  // of the code of the kernel that runs
  CheckReport report_;
};

}  // namespace redzone::device
