// Reads the reports of a tool (compute-sanitizer or a check of the device) during a trial, and maps
// them to calls and buffers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/trial.h"
#include "device/device.h"

namespace redzone::trial {

// The tool that this worker runs under, and the output file of compute-sanitizer.
struct SanitizerSource {
  SanitizerTool tool = SanitizerTool::none;
  std::filesystem::path log = {};
};

// Source of a tool's records.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // Returns the records since the last read. Requires an idle device.
  virtual std::vector<SanitizerRecord> read() = 0;
  // Why the records read so far in this trial are incomplete; "" if they are complete.
  virtual std::string problem() const = 0;
  virtual void begin_trial() { read(); }
  // True if the worker must be replaced to read more.
  virtual bool spent() const { return false; }
};

class SanitizerWatch {
 public:
  // For compute-sanitizer.
  explicit SanitizerWatch(const SanitizerSource& source);
  // For a check of `device`, which must support the check and outlive this object.
  SanitizerWatch(SanitizerTool check, device::Device& device);

  SanitizerTool tool() const { return tool_; }

  // Discards output from before the trial.
  void begin_trial();
  // Requires an idle device. Attributes output since the last call of drain() to `call`, unless the
  // tool names a call itself (-1: unknown; then an address in or near one of `buffers` decides).
  void drain(std::int32_t call, std::span<const device::NamedRange> buffers);
  SanitizerReport end_trial();

  // True when the tool's output limit is near: this worker must be replaced.
  bool spent() const { return source_->spent(); }

  // Distinct records kept per trial; records that differ only in thread and address are merged.
  static constexpr std::size_t kMostRecords = 64;

 private:
  void keep(SanitizerRecord record);

  SanitizerTool tool_;
  std::unique_ptr<RecordSource> source_;
  SanitizerReport report_;
};

// Maps `address` of the record to a buffer that it may mean (device::may_mean): sets buffer, side,
// distance and, if unknown, call. Among buffers at the same distance, those of the record's call
// and lasting ones are preferred to those of other calls. Does nothing if no buffer is near.
void locate(SanitizerRecord& record, std::span<const device::NamedRange> buffers);

}  // namespace redzone::trial
