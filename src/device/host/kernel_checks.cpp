#include "device/host/kernel_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/host/init_check.h"
#include "device/host/sync_check.h"
#include "device/host/thread_statics.h"
#include "device/host/undefined_check.h"

namespace redzone::device {

namespace {

std::string index_text(std::uint32_t index, const host::Index3& extent) {
  return fmt::format("{},{},{}", index % extent.x, index / extent.x % extent.y,
                     index / extent.x / extent.y);
}

std::string_view kind_of_race(const Race& race) {
  if (!host::is_write(race.second.kind)) return "race-raw";
  return host::is_write(race.first.kind) ? "race-waw" : "race-war";
}

std::string_view access_name(host::AccessKind kind) {
  using host::AccessKind;
  switch (kind) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::atomic_read:
      return "volatile read";
    case AccessKind::atomic_write:
      return "volatile write";
    case AccessKind::atomic_update:
      return "atomic";
  }
  return "access";
}

std::unique_ptr<SightingCheck> sighting_check(SanitizerTool tool, SourceLines& lines) {
  if (tool == SanitizerTool::init) return std::make_unique<InitCheck>();
  if (tool == SanitizerTool::sync) return std::make_unique<SyncCheck>(lines);
  RZ_CHECK(tool == SanitizerTool::undefined);
  return std::make_unique<UndefinedCheck>();
}

}  // namespace

KernelChecks::KernelChecks(SanitizerTool tool, std::vector<MemoryRange> memory) {
  if (tool == SanitizerTool::races)
    races_ = std::make_unique<RaceCheck>(std::move(memory));
  else
    sightings_ = sighting_check(tool, lines_);
}

KernelCheck& KernelChecks::check() const {
  if (races_ != nullptr) return *races_;
  return *sightings_;
}

KernelCheck* KernelChecks::begin_launch(const Grid& grid) {
  begin_ = code_.connect(grid.kernel.function, check());
  if (begin_ == nullptr) {
    if (report_.problem.empty())
      report_.problem = fmt::format("the code of kernel '{}' was not built for checks", grid.name);
    return nullptr;
  }
  check().begin_launch(grid.block.x * grid.block.y * grid.block.z, begin_,
                       make_thread_statics_of(grid.kernel.function));
  return &check();
}

std::string KernelChecks::access_text(const RaceAccess& access, const Grid& grid) {
  return fmt::format("{} at {} by thread ({}) of block ({})", access_name(access.kind),
                     lines_.at(begin_ + access.code), index_text(access.thread, grid.block),
                     index_text(access.block, grid.grid));
}

SanitizerRecord KernelChecks::record_of(const Race& race, const Grid& grid) {
  SanitizerRecord record;
  record.kind = kind_of_race(race);
  record.space = race.shared ? "shared" : "global";
  record.access = host::is_write(race.second.kind) ? Access::write : Access::read;
  record.size_bytes = race.bytes;
  if (race.shared) {
    record.buffer = kSharedBuffer;
    record.side = Side::inside;
  }
  record.address = reinterpret_cast<std::uintptr_t>(race.at);
  record.thread = index_text(race.second.thread, grid.block);
  record.block = index_text(race.second.block, grid.grid);
  record.location = lines_.at(begin_ + race.second.code);
  record.other = access_text(race.first, grid);
  record.count = race.count;
  return record;
}

SanitizerRecord KernelChecks::record_of(const Sighting& sighting, const Grid& grid) {
  SanitizerRecord record;
  record.kind = sighting.kind;
  record.access = sighting.access;
  record.size_bytes = sighting.bytes;
  record.address = reinterpret_cast<std::uintptr_t>(sighting.at);
  record.location = sighting.location;
  if (sighting.code != nullptr) record.location = lines_.at(sighting.code);
  if (sighting.elsewhere != nullptr)
    record.location += fmt::format(" (others at {})", lines_.at(sighting.elsewhere));
  record.count = sighting.count;
  if (sighting.shared) {
    record.space = "shared";
    record.buffer = kSharedBuffer;
    record.side = Side::inside;
  }
  record.warning = sighting.warning;
  record.kernel = grid.name;
  record.thread = index_text(sighting.thread, grid.block);
  record.block = index_text(sighting.block, grid.grid);
  return record;
}

void KernelChecks::report_races(const Grid& grid) {
  for (const Race& race : races_->races()) {
    SanitizerRecord record = record_of(race, grid);
    record.kernel = grid.name;
    record.call = grid.call;
    report_.records.push_back(std::move(record));
  }
  if (races_->incomplete() && report_.problem.empty())
    report_.problem =
        fmt::format("kernel '{}' uses more memory than the check can shadow", grid.name);
  if (races_->lost_track() && report_.problem.empty())
    report_.problem = fmt::format(
        "kernel '{}' orders more threads by atomics than the check can remember", grid.name);
}

void KernelChecks::report_sightings(const Grid& grid) {
  for (const Sighting& sighting : sightings_->take()) {
    SanitizerRecord record = record_of(sighting, grid);
    record.call = grid.call;
    // A line may have several places, for example in a loop that the compiler unrolls.
    const auto same = std::find_if(
        report_.records.begin(), report_.records.end(), [&](const SanitizerRecord& known) {
          return known.kind == record.kind && known.warning == record.warning &&
                 known.location == record.location && known.kernel == record.kernel &&
                 known.call == record.call;
        });
    if (same != report_.records.end())
      same->count += record.count;
    else
      report_.records.push_back(std::move(record));
  }
}

void KernelChecks::end_launch(const Grid& grid) {
  check().end_launch();
  if (races_ != nullptr)
    report_races(grid);
  else
    report_sightings(grid);
}

CheckReport KernelChecks::take() {
  return std::exchange(report_, {});
}

}  // namespace redzone::device
