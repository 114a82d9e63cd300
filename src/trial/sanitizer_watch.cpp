#include "trial/sanitizer_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sanitizer/command.h"
#include "sanitizer/log_file.h"

namespace redzone::trial {
namespace {

std::uint64_t number(const std::byte* p) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p));
}

bool alike(const SanitizerRecord& a, const SanitizerRecord& b) {
  return a.kind == b.kind && a.kernel == b.kernel && a.location == b.location && a.call == b.call &&
         a.buffer == b.buffer && a.side == b.side && a.warning == b.warning;
}

class LogSource final : public RecordSource {
 public:
  explicit LogSource(const std::filesystem::path& log) : log_(log) {}
  std::vector<SanitizerRecord> read() override {
    auto records = log_.read(true);
    seen_ += records.size();
    return records;
  }
  std::string problem() const override { return log_.problem(); }
  bool spent() const override {
    return seen_ >= sanitizer::kPrintLimit / 2 || !log_.problem().empty();
  }

 private:
  sanitizer::LogFile log_;
  std::uint64_t seen_ = 0;  // records since the worker started
};

class DeviceSource final : public RecordSource {
 public:
  explicit DeviceSource(device::Device& device) : device_(device) {}
  std::vector<SanitizerRecord> read() override {
    auto report = device_.take_check_report();
    if (problem_.empty()) problem_ = std::move(report.problem);
    return std::move(report.records);
  }
  std::string problem() const override { return problem_; }
  void begin_trial() override {
    read();
    problem_.clear();
  }

 private:
  device::Device& device_;
  std::string problem_;
};

// Kernels that Redzone launches itself; see device/cuda/buffer_kernels.cu and contention_kernel.cu.
bool is_ours(std::string_view kernel) {
  return kernel == "redzone_fill" || kernel == "redzone_fill_inline" || kernel == "redzone_check" ||
         kernel == "redzone_contention";
}

}  // namespace

void locate(SanitizerRecord& record, std::span<const device::NamedRange> buffers) {
  const std::uint64_t address = record.address;
  if (address == 0 || record.space != "global") return;
  const device::NamedRange* nearest = nullptr;
  std::uint64_t least = kNearBytes + 1;
  bool of_call = false;  // the nearest buffer may belong to the record's call
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const device::NamedRange& range = buffers[i];
    Side side = Side::inside;
    std::uint64_t distance = 0;
    if (address < number(range.begin)) {
      side = Side::before;
      distance = number(range.begin) - address;
    } else if (address >= number(range.end)) {
      side = Side::after;
      distance = address - number(range.end) + 1;
    }
    // Memory that two calls used is attributed to the record's call if it is known, else to the
    // later call.
    const bool may_be = record.call < 0 || range.call < 0 || range.call == record.call;
    if (distance > least || !device::may_mean(buffers, i, record.call)) continue;
    if (distance == least && (may_be != of_call ? of_call : side != Side::inside)) continue;
    least = distance;
    of_call = may_be;
    nearest = &range;
    record.side = side;
  }
  if (nearest == nullptr) return;
  record.buffer = nearest->name;
  record.distance_bytes = static_cast<std::int64_t>(least);
  if (record.call < 0) record.call = nearest->call;
}

SanitizerWatch::SanitizerWatch(const SanitizerSource& source)
    : tool_(source.tool), source_(std::make_unique<LogSource>(source.log)) {}

SanitizerWatch::SanitizerWatch(SanitizerTool check, device::Device& device)
    : tool_(check), source_(std::make_unique<DeviceSource>(device)) {}

void SanitizerWatch::begin_trial() {
  report_ = {};
  report_.tool = tool_;
  source_->begin_trial();
}

void SanitizerWatch::drain(std::int32_t call, std::span<const device::NamedRange> buffers) {
  for (auto& record : source_->read()) {
    if (record.call < 0) record.call = call;
    locate(record, buffers);
    keep(std::move(record));
  }
}

void SanitizerWatch::keep(SanitizerRecord record) {
  if (is_ours(record.kernel)) {
    if (!record.warning && report_.problem.empty())
      report_.problem =
          fmt::format("it reports Redzone's own kernel {}: {}", record.kernel, record.text);
    return;
  }
  auto& kept = report_.records;
  const auto same = std::find_if(kept.begin(), kept.end(),
                                 [&](const auto& other) { return alike(record, other); });
  if (same != kept.end())
    same->count += record.count;
  else if (kept.size() < kMostRecords)
    kept.push_back(std::move(record));
  else
    ++report_.dropped;
}

SanitizerReport SanitizerWatch::end_trial() {
  if (report_.problem.empty()) report_.problem = source_->problem();
  return std::exchange(report_, {});
}

}  // namespace redzone::trial
