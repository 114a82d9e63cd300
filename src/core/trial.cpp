#include "core/trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/byte_count.h"

namespace redzone {
std::string describe(const SanitizerRecord& record) {
  std::string out = record.kind;
  std::replace(out.begin(), out.end(), '-', ' ');
  if (!record.other.empty()) out = fmt::format("race: {}", name_of(record.access));
  if (record.size_bytes > 0) out += fmt::format(" of {}", byte_count(record.size_bytes));
  if (!record.kernel.empty()) out += " in " + record.kernel;
  if (!record.location.empty()) out += " at " + record.location;
  if (!record.thread.empty()) out += fmt::format(" by thread ({})", record.thread);
  if (!record.block.empty())
    out += fmt::format(" {} block ({})", record.thread.empty() ? "in" : "of", record.block);
  const bool near = !record.buffer.empty();
  if (near && record.side == Side::inside)
    out += fmt::format(", inside '{}'", record.buffer);
  else if (near)
    out += fmt::format(", {} {} '{}'", byte_count(record.distance_bytes), name_of(record.side),
                       record.buffer);
  if (record.call >= 0)
    out += fmt::format("{} call {}", near ? " of" : ", in", std::int64_t{record.call} + 1);
  if (!record.other.empty()) out += ", in no order with the " + record.other;
  if (record.count > 1) out += fmt::format(" ({} records alike)", record.count);
  return out;
}

}  // namespace redzone
