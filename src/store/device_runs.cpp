#include "store/device_runs.h"

#include "store/database.h"

namespace redzone::store {

Result<std::vector<DeviceRuns>> device_runs(Store& store) {
  return store.database().read([&] {
    SQLite::Statement query(
        store.database().sql(),
        "SELECT f.id, p.device, sum(p.failed_runs), sum(p.failed_runs + p.otherwise + p.passed) "
        "FROM findings f JOIN probes p ON p.finding_id = f.id AND p.plan_id = f.plan_id "
        "GROUP BY f.id, p.device ORDER BY f.id, p.device");
    std::vector<DeviceRuns> all;
    while (query.executeStep())
      all.push_back({.finding = query.getColumn(0).getInt64(),
                     .device = query.getColumn(1).getString(),
                     .failed = {query.getColumn(2).getInt64(), query.getColumn(3).getInt64()}});
    return all;
  });
}

}  // namespace redzone::store
