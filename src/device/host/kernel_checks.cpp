#include "device/host/kernel_checks.h"

#include <fmt/format.h>

#include <utility>

#include "device/host/thread_statics.h"

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

}  // namespace

RaceCheck* KernelChecks::begin_launch(const Grid& grid) {
  begin_ = code_.connect(grid.kernel.function, races_);
  if (begin_ == nullptr) {
    if (report_.problem.empty())
      report_.problem = fmt::format("the code of kernel '{}' was not built for checks", grid.name);
    return nullptr;
  }
  races_.begin_launch(grid.block.x * grid.block.y * grid.block.z, begin_,
                      thread_statics_of(grid.kernel.function));
  return &races_;
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
    record.buffer = "shared";
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

void KernelChecks::end_launch(const Grid& grid) {
  races_.end_launch();
  for (const Race& race : races_.races()) {
    SanitizerRecord record = record_of(race, grid);
    record.kernel = grid.name;
    record.call = grid.call;
    report_.records.push_back(std::move(record));
  }
  if (races_.incomplete() && report_.problem.empty())
    report_.problem =
        fmt::format("kernel '{}' uses more memory than the check can shadow", grid.name);
  if (races_.lost_track() && report_.problem.empty())
    report_.problem = fmt::format(
        "kernel '{}' orders more threads by atomics than the check can remember", grid.name);
}

CheckReport KernelChecks::take() {
  return std::exchange(report_, {});
}

}  // namespace redzone::device
