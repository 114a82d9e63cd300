#include "core/tool_warnings.h"

#include <algorithm>
#include <set>

namespace redzone {
namespace {

std::string described_by_place(SanitizerRecord record) {
  record.thread.clear();
  record.block.clear();
  record.call = -1;
  record.count = 1;
  record.distance_bytes = 0;
  record.buffer.clear();
  return describe(record);
}

}  // namespace

void ToolWarnings::add(const SanitizerReport& report) {
  std::set<std::string> told;
  bool beyond = false;
  for (const SanitizerRecord& record : report.records)
    if (record.warning) told.insert(described_by_place(record));
  for (const std::string& what : told) {
    auto known = std::find_if(seen_.begin(), seen_.end(), [&](const ToolWarning& w) {
      return w.tool == report.tool && w.what == what;
    });
    if (known == seen_.end() && seen_.size() < kMost)
      known = seen_.insert(known, {report.tool, what, 0});
    if (known == seen_.end())
      beyond = true;
    else
      ++known->reports;
  }
  others_ += beyond ? 1 : 0;
}

}  // namespace redzone
