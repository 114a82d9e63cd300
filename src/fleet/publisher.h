// Publishes the local store of an attempt, and reports the attempt's status.
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
  std::string failed = {};  // why it ended before its night did, one line; "" if it did not

  static AttemptEnd of(const Error& error) { return {kHarness, error.message}; }
};

class Publisher {
 public:
  // `store`: may not exist yet; other processes write to it meanwhile.
  Publisher(Layout layout, const Attempt& attempt, AttemptStatus status,
            std::filesystem::path store)
      : layout_(std::move(layout)),
        attempt_(attempt),
        status_(std::move(status)),
        store_(std::move(store)) {}

  // Publishes if `always` is set or the findings differ from those of the latest snapshot. An error
  // is reported in the status, and publishing is tried again the next time.
  void publish(bool always);
  // Publishes for the last time and reports the end. Writing to the shared folder is retried until
  // it succeeds, the job is told to end, or kLastTry seconds have passed. If the store is still not
  // published, its folder is kept, and the status reports this. Returns how the job ended: with the
  // result of its night; as interrupted if the store was not published, so that the job is
  // continued later from its latest snapshot; as failed if the local store cannot be read.
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
  bool readable_ = true;  // whether the store could be read the last time
  std::vector<std::pair<std::string, std::int64_t>> findings_;  // findings by state, as published
                                                                // last
};

// Reports the end of an attempt; `status`: the last reported status.
void end_attempt(const Layout& layout, const Attempt& attempt, AttemptStatus status,
                 const AttemptEnd& end);

}  // namespace redzone::fleet
