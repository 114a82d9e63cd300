#include "core/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/names.h"

namespace redzone {
namespace {

constexpr std::array kEnds{std::pair{End::completed, "completed"},
                           std::pair{End::fault, "fault"},
                           std::pair{End::hang, "hang"},
                           std::pair{End::exited, "exited"},
                           std::pair{End::unsupported, "unsupported"},
                           std::pair{End::out_of_memory, "out-of-memory"},
                           std::pair{End::worker_error, "worker-error"}};
constexpr std::array kAccesses{std::pair{Access::unknown, "unknown"},
                               std::pair{Access::read, "read"}, std::pair{Access::write, "write"}};
constexpr std::array kSides{std::pair{Side::unknown, "unknown"}, std::pair{Side::before, "before"},
                            std::pair{Side::after, "after"}, std::pair{Side::inside, "inside"}};

constexpr std::array kComparisons{
    std::pair{Comparison::none, "none"}, std::pair{Comparison::compared, "compared"},
    std::pair{Comparison::left_out, "left-out"}, std::pair{Comparison::too_large, "too-large"}};

}  // namespace

std::string describe(const SanitizerRecord& record) {
  std::string out = record.kind;
  std::replace(out.begin(), out.end(), '-', ' ');
  if (record.size_bytes > 0) out += fmt::format(" of {} bytes", record.size_bytes);
  if (!record.kernel.empty()) out += " in " + record.kernel;
  if (!record.location.empty()) out += " at " + record.location;
  if (!record.thread.empty()) out += fmt::format(" by thread ({})", record.thread);
  if (!record.block.empty())
    out += fmt::format(" {} block ({})", record.thread.empty() ? "in" : "of", record.block);
  const bool near = !record.buffer.empty();
  if (near && record.side == Side::inside)
    out += fmt::format(", inside '{}'", record.buffer);
  else if (near)
    out += fmt::format(", {} bytes {} '{}'", record.distance_bytes, name_of(record.side),
                       record.buffer);
  if (record.call >= 0) out += fmt::format("{} call {}", near ? " of" : ", in", record.call + 1);
  if (record.count > 1) out += fmt::format(" ({} records alike)", record.count);
  return out;
}

std::string_view name_of(End v) {
  return name_in(kEnds, v);
}
std::string_view name_of(Access v) {
  return name_in(kAccesses, v);
}
std::string_view name_of(Side v) {
  return name_in(kSides, v);
}
std::string_view name_of(Comparison v) {
  return name_in(kComparisons, v);
}

}  // namespace redzone
