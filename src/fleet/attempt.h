// An attempt: one start of a job of a fleet. A job that Slurm requeues begins another attempt, so
// that two processes never write the same file, even if a node that was considered lost comes back.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/exit_code.h"
#include "core/field_table.h"

namespace redzone::fleet {

// Numbers above the fleet's shards are those of the examinations (examiner_of() in fleet.h).
inline constexpr int kHubShard = 0;  // attempts of the hub have this shard number

// Upper bound (exclusive) of attempt numbers; more than a cluster ever starts.
inline constexpr int kAttemptsEnd = 1'000'000;

struct Attempt {
  int shard = 1;   // 1..N, or kHubShard
  int number = 1;  // counted from 1

  auto operator<=>(const Attempt&) const = default;
};

// "0003-1"
std::string text_of(const Attempt& attempt);
std::optional<Attempt> parse_attempt(std::string_view text);

// What an attempt reports about itself. Times are UTC, ISO 8601, by the clock of its node.
struct AttemptStatus {
  static constexpr int kRunning = -1;

  std::string fleet = {};  // uid of its fleet: a failed submit may have left attempts in the folder
  std::string host = {};
  std::string job = {};  // Slurm's job number; "" outside of Slurm
  std::string began = {};
  std::string ended = {};      // "" while it runs; stays "" if it was lost
  std::string published = {};  // time of its latest snapshot; "" if there is none
  std::int64_t snapshot = 0;   // number of its latest snapshot
  int exit_code = kRunning;  // exit code of `redzone nightly`, or of the command that the job runs
                             // instead
  int taken_up = 0;          // number of the attempt whose snapshot it started from; 0: none
  std::string problem = {};  // the latest failure, one line
  // It ended before its night did, without having been asked to: another attempt may succeed.
  bool failed = false;

  bool has_ended() const { return !ended.empty(); }
  bool operator==(const AttemptStatus&) const = default;
};

// After this many failed attempts, a shard is not tried again.
inline constexpr int kMostFailures = 3;

// The outcome of the attempts of a shard.
struct Past {
  std::optional<int> over;  // exit code of the shard if no work is left for it
  int failures = 0;
};

Past past_of(const std::map<Attempt, AttemptStatus>& attempts, int shard);

constexpr auto field_table(std::type_identity<AttemptStatus>) {
  using S = AttemptStatus;
  return fields<S>(field("fleet", &S::fleet), field("host", &S::host), field("job", &S::job),
                   field("began", &S::began), field("ended", &S::ended),
                   field("published", &S::published), field("snapshot", &S::snapshot),
                   field("exit_code", &S::exit_code), field("taken_up", &S::taken_up),
                   field("problem", &S::problem), sparse("failed", &S::failed));
}

}  // namespace redzone::fleet
