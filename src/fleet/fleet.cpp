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
  std::int64_t shards = 0;
  for (const auto& model : fleet.models) {
    if (model.shards < 1) throw table.error("models", "one has no shards");
    shards += model.shards;
  }
  if (shards != fleet.shards)
    throw table.error("models", fmt::format("have {} shards, not {}", shards, fleet.shards));
  if (fleet.seconds < 0) throw table.error("seconds", "is negative");
  if (fleet.snapshot_seconds < 1) throw table.error("snapshot_seconds", "is less than a second");
  if (fleet.lease_seconds < 1) throw table.error("lease_seconds", "is less than a second");
  if (fleet.answer_seconds < 1) throw table.error("answer_seconds", "is less than a second");
}

void check_record(const TableReader& table, const Jobs& jobs) {
  // Job numbers become arguments of commands.
  for (const auto& job : jobs.all())
    if (job.find_first_not_of("0123456789") != std::string::npos)
      throw table.error("", fmt::format("'{}' is no job number", job));
}

std::vector<std::string> Jobs::on_gpus() const {
  std::vector<std::string> jobs = shards;
  jobs.insert(jobs.end(), examinations.begin(), examinations.end());
  return jobs;
}

std::vector<std::string> Jobs::all() const {
  std::vector<std::string> jobs = on_gpus();
  for (const auto& job : {hub, report})
    if (!job.empty()) jobs.push_back(job);
  return jobs;
}

int model_of(const Fleet& fleet, int shard) {
  int model = 0;
  for (int first = 1; first <= shard && model < static_cast<int>(fleet.models.size()); ++model)
    first += fleet.models[static_cast<std::size_t>(model)].shards;
  return model;
}

}  // namespace redzone::fleet
