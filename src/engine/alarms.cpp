#include "engine/alarms.h"

#include "campaign/alarm.h"
#include "engine/store_sink.h"

namespace redzone::engine {

Result<Finding> store_alarm(store::Store& store, const Site& site, campaign::Evaluator& evaluator,
                            const campaign::Alarm& alarm, const TargetEntry& entry) {
  StoreSink sink(store);
  Finding found_in;
  found_in.environment = site.environment(entry);
  return campaign::record_alarm(evaluator, site.catalog_for(entry), sink, alarm, found_in);
}

}  // namespace redzone::engine
