#include "cli/alarms.h"

#include "campaign/alarm.h"
#include "cli/store_sink.h"

namespace redzone::cli {

Result<Finding> store_alarm(store::Store& store, Session& session, campaign::Evaluator& evaluator,
                            const campaign::Alarm& alarm, const TargetEntry& entry) {
  StoreSink sink(store);
  Finding found_in;
  found_in.environment = session.environment(entry);
  return campaign::record_alarm(evaluator, session.catalog(), sink, alarm, found_in);
}

}  // namespace redzone::cli
