// What compute-sanitizer says while a trial runs, mapped to calls and buffers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/trial.h"
#include "device/device.h"
#include "sanitizer/log_file.h"

namespace redzone::trial {

// The tool that this worker runs under, and the file that it writes to.
struct SanitizerSource {
  SanitizerTool tool = SanitizerTool::none;
  std::filesystem::path log;
};

class SanitizerWatch {
 public:
  explicit SanitizerWatch(SanitizerSource source) : tool_(source.tool), log_(source.log) {}

  SanitizerTool tool() const { return tool_; }

  // What was said before the trial is nobody's.
  void begin_trial();
  // The device is idle: what was said since the last time belongs to `call` (-1: to any of the
  // trial; where an address is in or near one of `buffers`, to that buffer's call).
  void drain(std::int32_t call, std::span<const device::NamedRange> buffers);
  SanitizerReport end_trial();

  // The tool will soon print no more: this worker must be replaced.
  bool spent() const;

  // Records alike are one; so many that differ are kept of a trial.
  static constexpr std::size_t kMostRecords = 64;

 private:
  void keep(SanitizerRecord record);

  SanitizerTool tool_;
  sanitizer::LogFile log_;
  std::uint64_t seen_ = 0;  // records since the worker started
  SanitizerReport report_;
};

// The name of `address` among `buffers`: buffer, side, distance and, where it is not known, call.
// Nothing when it is near none of them.
void locate(SanitizerRecord& record, std::span<const device::NamedRange> buffers);

}  // namespace redzone::trial
