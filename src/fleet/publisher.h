// Publishes the local store of an attempt, and tells how the attempt does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/exit_code.h"
#include "fleet/layout.h"
#include "fleet/local_folder.h"

namespace redzone::fleet {

struct AttemptEnd {
  int exit_code = 0;
  std::string failed = {};  // why it ended before its night did, one line; "": it did not

  static AttemptEnd of(const Error& error) { return {kHarness, error.message}; }
};

class Publisher {
 public:
  // `store`: is written by other processes meanwhile, or does not exist yet.
  Publisher(Layout layout, const Attempt& attempt, AttemptStatus status,
            std::filesystem::path store)
      : layout_(std::move(layout)),
        attempt_(attempt),
        status_(std::move(status)),
        store_(std::move(store)) {}

  // Publishes if `always` or if there are other findings than in the latest snapshot. What fails is
  // told in the status, and is tried again the next time.
  void publish(bool always);
  // Publishes for the last time and tells the end. What cannot be written into the shared folder is
  // tried again until it can be, the job is told to end, or kLastTry seconds have passed. If it is
  // not published then, the folder with the store is kept, and told. Returns how the job ended: as
  // its night; of what was not published, as one that was interrupted, so that the job goes on
  // later with its latest snapshot; of a local store that cannot be read, as one that failed.
  AttemptEnd conclude(AttemptEnd end, LocalFolder& folder, const std::function<bool()>& interrupted,
                      const std::function<double()>& now);
  static constexpr double kLastTry = 600;

 private:
  Result<void> try_publish(bool always);
  void note(const Result<void>& published);
  bool publish_last(const std::function<bool()>& interrupted, const std::function<double()>& now);
  void tell();

  Layout layout_;
  Attempt attempt_;
  AttemptStatus status_;
  std::filesystem::path store_;
  bool readable_ = true;                                        // the store, the last time
  std::vector<std::pair<std::string, std::int64_t>> findings_;  // by state, as published
};

// Tells the end of an attempt; `status`: as it was told last.
void end_attempt(const Layout& layout, const Attempt& attempt, AttemptStatus status,
                 const AttemptEnd& end);

}  // namespace redzone::fleet
