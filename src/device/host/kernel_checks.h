// The race check around the launches of a device: connects it with the code of a kernel, and makes
// records of what it finds.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "device/device.h"
#include "device/host/checked_code.h"
#include "device/host/engine.h"
#include "device/host/race_check.h"
#include "device/host/source_lines.h"

namespace redzone::device {

class KernelChecks {
 public:
  // `memory`: as in RaceCheck.
  explicit KernelChecks(std::vector<MemoryRange> memory) : races_(std::move(memory)) {}

  // The check for this launch; null, which is a problem of the report, if the kernel was not built
  // for it.
  RaceCheck* begin_launch(const Grid& grid);
  void end_launch(const Grid& grid);
  CheckReport take();

 private:
  SanitizerRecord record_of(const Race& race, const Grid& grid);
  std::string access_text(const RaceAccess& access, const Grid& grid);

  RaceCheck races_;
  CheckedCode code_;
  const std::byte* begin_ = nullptr;  // of the code of the kernel that runs
  SourceLines lines_;
  CheckReport report_;
};

}  // namespace redzone::device
