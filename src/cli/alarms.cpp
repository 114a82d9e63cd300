#include "cli/alarms.h"

#include "campaign/alarm.h"
#include "cli/store_sink.h"

namespace redzone::cli {

Result<std::int64_t> store_alarm(const po::variables_map& flags, Session& session,
                                 campaign::Evaluator& evaluator, const campaign::Alarm& alarm,
                                 const TargetEntry& entry) {
  auto store = open_store(flags, store::OpenMode::read_write_create);
  if (!store) return tl::unexpected(store.error());
  StoreSink sink(*store);
  store::Finding found_in;
  found_in.environment = session.environment(entry);
  const auto finding = campaign::record_alarm(evaluator, session.catalog(), sink, alarm, found_in);
  if (!finding) return tl::unexpected(finding.error());
  return finding->id;
}

}  // namespace redzone::cli
