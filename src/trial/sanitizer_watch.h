// Reads compute-sanitizer's output during a trial, and maps it to calls and buffers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/trial.h"
#include "device/device.h"
#include "sanitizer/log_file.h"

namespace redzone::trial {

// The tool that this worker runs under, and its output file.
struct SanitizerSource {
  SanitizerTool tool = SanitizerTool::none;
  std::filesystem::path log;
};

class SanitizerWatch {
 public:
  explicit SanitizerWatch(const SanitizerSource& source) : tool_(source.tool), log_(source.log) {}

  SanitizerTool tool() const { return tool_; }

  // Discards output from before the trial.
  void begin_trial();
  // Requires an idle device. Output since the last call of drain() belongs to `call` (-1: unknown;
  // an address in or near one of `buffers` decides).
  void drain(std::int32_t call, std::span<const device::NamedRange> buffers);
  SanitizerReport end_trial();

  // True when the tool's output limit is near: this worker must be replaced.
  bool spent() const;

  // Distinct records kept per trial; records that differ only in thread and address are merged.
  static constexpr std::size_t kMostRecords = 64;

 private:
  void keep(SanitizerRecord record);

  SanitizerTool tool_;
  sanitizer::LogFile log_;
  std::uint64_t seen_ = 0;  // records since the worker started
  SanitizerReport report_;
};

// Maps `address` of the record to a buffer: buffer, side, distance and, if unknown, call. Does
// nothing if it is near none of them.
void locate(SanitizerRecord& record, std::span<const device::NamedRange> buffers);

}  // namespace redzone::trial
