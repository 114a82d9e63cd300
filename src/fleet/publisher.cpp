#include "fleet/publisher.h"

#include <chrono>
#include <thread>

#include "core/log.h"
#include "core/terminal.h"
#include "core/utc.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "store/upkeep.h"

namespace redzone::fleet {
namespace fs = std::filesystem;

void Publisher::publish(bool always) {
  note(try_publish(always));
}

AttemptEnd Publisher::conclude(AttemptEnd end, LocalFolder& folder,
                               const std::function<bool()>& interrupted,
                               const std::function<double()>& now) {
  if (!publish_last(interrupted, now)) {
    log::warn("fleet: what shard {} found since its latest snapshot is in {}: {}", attempt_.shard,
              folder.keep().string(), status_.problem);
    if (readable_)
      end = {kInterrupted};
    else if (end.failed.empty() && end.exit_code != kInterrupted)
      end = {kHarness, status_.problem};
  }
  end_attempt(layout_, attempt_, status_, end);
  return end;
}

bool Publisher::publish_last(const std::function<bool()>& interrupted,
                             const std::function<double()>& now) {
  constexpr double kAgain = 5;
  constexpr std::chrono::milliseconds kLook{200};
  const double until = now() + kLastTry;
  for (;;) {
    const auto published = try_publish(true);
    note(published);
    if (published) return true;
    const double again = now() + kAgain;
    do {
      if (!readable_ || interrupted() || now() >= until) return false;
      std::this_thread::sleep_for(kLook);
    } while (now() < again);
  }
}

void Publisher::note(const Result<void>& published) {
  if (published) return;
  auto problem = printable(published.error().message);
  if (problem == status_.problem) return;
  status_.problem = std::move(problem);
  log::warn("fleet: no snapshot of shard {}: {}", attempt_.shard, status_.problem);
  tell();
}

Result<void> Publisher::try_publish(bool always) {
  std::error_code ignored;
  if (!fs::exists(store_, ignored)) return {};
  readable_ = false;
  RZ_TRY_ASSIGN(auto store, store::Store::open(store_, store::OpenMode::read_only));
  RZ_TRY_ASSIGN(auto contents, store::contents(store));
  readable_ = true;
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

void end_attempt(const Layout& layout, const Attempt& attempt, AttemptStatus status,
                 const AttemptEnd& end) {
  status.exit_code = end.exit_code;
  status.failed = !end.failed.empty();
  if (status.failed) status.problem = printable(end.failed);
  status.ended = utc_now();
  if (const auto told = write_record(layout.attempt(attempt), status); !told)
    log::warn("fleet: {}", told.error().message);
}

}  // namespace redzone::fleet
