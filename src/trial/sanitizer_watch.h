// Reads what a tool reports during a trial, compute-sanitizer or a check of the device, and maps it
// to calls and buffers.
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

// Where the records of a tool come from.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // Those since the last read. Requires an idle device.
  virtual std::vector<SanitizerRecord> read() = 0;
  // Why those read so far in this trial are incomplete; "" if they are complete.
  virtual std::string problem() const = 0;
  virtual void begin_trial() { read(); }
  // True if the worker must be replaced to read more.
  virtual bool spent() const { return false; }
};

class SanitizerWatch {
 public:
  // compute-sanitizer.
  explicit SanitizerWatch(const SanitizerSource& source);
  // A check of `device`, which outlives this and knows the check.
  SanitizerWatch(SanitizerTool check, device::Device& device);

  SanitizerTool tool() const { return tool_; }

  // Discards output from before the trial.
  void begin_trial();
  // Requires an idle device. Output since the last call of drain() belongs to `call`, unless the
  // tool knows better (-1: unknown; an address in or near one of `buffers` decides).
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

// Maps `address` of the record to a buffer that it may mean (device::may_mean): buffer, side,
// distance and, if unknown, call. Of buffers at the same distance those of the record's call and
// lasting ones come before those of other calls. Does nothing if it is near none of them.
void locate(SanitizerRecord& record, std::span<const device::NamedRange> buffers);

}  // namespace redzone::trial
