#include "fleet/publisher.h"

#include "core/log.h"
#include "core/terminal.h"
#include "core/utc.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "store/upkeep.h"

namespace redzone::fleet {
namespace fs = std::filesystem;

void Publisher::publish(bool always) {
  const auto published = try_publish(always);
  if (published) return;
  status_.problem = printable(published.error().message);
  log::warn("fleet: no snapshot of shard {}: {}", attempt_.shard, status_.problem);
  tell();
}

void Publisher::end(int exit_code) {
  status_.exit_code = exit_code;
  status_.ended = utc_now();
  tell();
}

Result<void> Publisher::try_publish(bool always) {
  std::error_code ignored;
  if (!fs::exists(store_, ignored)) return {};
  RZ_TRY_ASSIGN(auto store, store::Store::open(store_, store::OpenMode::read_only));
  RZ_TRY_ASSIGN(auto contents, store::contents(store));
  if (!always && contents.findings_by_state == findings_) return {};
  RZ_TRY(publish_snapshot(layout_, {attempt_, status_.snapshot + 1}, store));
  findings_ = std::move(contents.findings_by_state);
  ++status_.snapshot;
  status_.published = utc_now();
  status_.problem.clear();
  tell();
  return {};
}

void Publisher::tell() {
  if (const auto told = write_record(layout_.attempt(attempt_), status_); !told)
    log::warn("fleet: {}", told.error().message);
}

}  // namespace redzone::fleet
