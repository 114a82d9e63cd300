// An attempt: one start of a job of a fleet. A job that Slurm requeues begins another attempt, so
// that two processes never own one file, even where a node that was taken for lost comes back.
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

// Behind the shards are the examinations (examiner_of() in fleet.h).
inline constexpr int kHubShard = 0;  // the attempts of the hub are those of "shard 0"

// Numbers are below; more than a cluster ever starts.
inline constexpr int kAttemptsEnd = 1'000'000;

struct Attempt {
  int shard = 1;   // 1..N, or kHubShard
  int number = 1;  // from 1

  auto operator<=>(const Attempt&) const = default;
};

// "0003-1"
std::string text_of(const Attempt& attempt);
std::optional<Attempt> parse_attempt(std::string_view text);

// What an attempt tells about itself. Times are UTC, ISO 8601, by the clock of its node.
struct AttemptStatus {
  static constexpr int kRunning = -1;

  std::string fleet = {};  // its uid: a submit that failed may have left attempts in the folder
  std::string host = {};
  std::string job = {};  // Slurm's number, "" outside of Slurm
  std::string began = {};
  std::string ended = {};      // "" while it runs, and forever if it was lost
  std::string published = {};  // time of its latest snapshot; "" without one
  std::int64_t snapshot = 0;   // its number
  int exit_code = kRunning;    // of `redzone nightly`, or of what the job does instead
  int taken_up = 0;            // number of the attempt whose snapshot it began with; 0: none
  std::string problem = {};    // the last thing that failed, one line
  // It ended before its night did, and nobody had told it to: another attempt may do better.
  bool failed = false;

  bool has_ended() const { return !ended.empty(); }
  bool operator==(const AttemptStatus&) const = default;
};

// So many attempts of one shard may fail; then nobody tries it again.
inline constexpr int kMostFailures = 3;

// What the attempts of a shard came to.
struct Past {
  std::optional<int> over;  // its exit code, if it has nothing more to do
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
