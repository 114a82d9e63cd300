#include "fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/table_reader.h"

namespace redzone::fleet {

void check_record(const TableReader& table, const Fleet& fleet) {
  if (fleet.uid.size() != kUidDigits ||
      fleet.uid.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw table.error("uid", fmt::format("{} hexadecimal digits are expected", kUidDigits));
  if (fleet.shards < 1 || fleet.shards > kMostShards)
    throw table.error("shards", fmt::format("{} is not in 1..{}", fleet.shards, kMostShards));
  if (fleet.seconds < 0) throw table.error("seconds", "is negative");
  if (fleet.snapshot_seconds < 1) throw table.error("snapshot_seconds", "is less than a second");
  if (fleet.lease_seconds < 1) throw table.error("lease_seconds", "is less than a second");
}

void check_record(const TableReader& table, const Jobs& jobs) {
  // They become words of commands.
  for (const auto& [name, job] : {std::pair{"shards", &jobs.shards}, std::pair{"hub", &jobs.hub},
                                  std::pair{"report", &jobs.report}})
    if (job->find_first_not_of("0123456789") != std::string::npos)
      throw table.error(name, fmt::format("'{}' is no job number", *job));
}

}  // namespace redzone::fleet
