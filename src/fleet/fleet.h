// The work of a fleet, as `redzone fleet submit` writes it once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/field_table.h"
#include "core/table_reader.h"
#include "fleet/attempt.h"

namespace redzone::fleet {

inline constexpr int kMostShards = 4096;
inline constexpr std::size_t kUidDigits = 32;

// A GPU model of the site, and the number of shards that run on it: these follow the shards of the
// models before it.
struct Model {
  std::string name = {};  // the site's name for the model; "" if it names none
  int shards = 1;

  bool operator==(const Model&) const = default;
};

constexpr auto field_table(std::type_identity<Model>) {
  return fields<Model>(field("name", &Model::name), field("shards", &Model::shards));
}

struct Fleet {
  std::string uid = {};      // 32 hex digits
  std::string created = {};  // UTC, ISO 8601
  std::string version = {};  // version of Redzone
  int shards = 1;
  std::uint64_t seed = 0;
  std::vector<std::string> nightly = {};  // arguments of `redzone nightly`, for every shard
  std::vector<std::string> reruns = {};   // arguments of commands that rerun a finding
  std::vector<Model> models = {};         // at least one
  double seconds = 0;                     // time of each shard; 0: no limit
  double snapshot_seconds = 120;          // maximum time between two snapshots of a shard
  double lease_seconds = 600;
  double answer_seconds = 30;  // how long a shard waits for an answer of the hub
  bool shards_reduce = true;   // false: shards confirm, the examinations reduce

  bool operator==(const Fleet&) const = default;
};

constexpr auto field_table(std::type_identity<Fleet>) {
  using F = Fleet;
  return fields<F>(
      field("uid", &F::uid), field("created", &F::created), field("version", &F::version),
      field("shards", &F::shards), field("seed", &F::seed), field("nightly", &F::nightly),
      field("reruns", &F::reruns), field("models", &F::models), field("seconds", &F::seconds),
      field("snapshot_seconds", &F::snapshot_seconds), field("lease_seconds", &F::lease_seconds),
      sparse("answer_seconds", &F::answer_seconds), sparse("shards_reduce", &F::shards_reduce));
}

// The number of the model on which the shard runs, counted from 1.
int model_of(const Fleet& fleet, int shard);
// The shard number under which the examination of a model has its attempts.
inline int examiner_of(const Fleet& fleet, int model) {
  return fleet.shards + model;
}
// The name of a job's folder on a local disk, without the attempt's number; `job`: "hub" or the
// shard's number, such as "3".
inline std::string local_name(const Fleet& fleet, const std::string& job) {
  constexpr std::size_t kShort = 8;
  return "redzone-" + fleet.uid.substr(0, kShort) + "-" + job;
}
// Checks that the values are possible for a fleet; throws the reader's error for the first that is
// not.
void check_record(const TableReader& table, const Fleet& fleet);

// Slurm's job numbers; "" for a job that was not submitted.
struct Jobs {
  std::vector<std::string> shards = {}, examinations = {};  // by model
  std::string hub = {}, report = {};

  // The jobs that need a GPU.
  std::vector<std::string> on_gpus() const;
  std::vector<std::string> all() const;

  bool operator==(const Jobs&) const = default;
};

constexpr auto field_table(std::type_identity<Jobs>) {
  return fields<Jobs>(field("shards", &Jobs::shards), field("examinations", &Jobs::examinations),
                      field("hub", &Jobs::hub), field("report", &Jobs::report));
}

void check_record(const TableReader& table, const Jobs& jobs);

struct HubStatus {
  int attempt = 1;
  std::string host = {}, began = {}, updated = {}, ended = {};  // UTC; `ended` is "" while it runs
  std::int64_t merges = 0, granted = 0, leased = 0, reduced = 0;
  double merge_seconds = 0;                // spent on merging and publishing
  std::vector<std::string> problems = {};  // one line each
  // When `hub --finish` began, after all jobs on GPUs had left Slurm's queue; "" if it has not
  // begun.
  std::string finished = {};

  bool operator==(const HubStatus&) const = default;
};

// True if the attempt has ended without reporting its end. When `hub --finish` began, Slurm no
// longer had any of the fleet's jobs on GPUs.
inline bool is_lost(const AttemptStatus& attempt, const HubStatus& hub) {
  return !attempt.has_ended() && std::max(attempt.began, attempt.published) < hub.finished;
}

constexpr auto field_table(std::type_identity<HubStatus>) {
  using H = HubStatus;
  return fields<H>(field("attempt", &H::attempt), field("host", &H::host),
                   field("began", &H::began), field("updated", &H::updated),
                   field("ended", &H::ended), field("merges", &H::merges),
                   field("granted", &H::granted), field("leased", &H::leased),
                   field("reduced", &H::reduced), field("merge_seconds", &H::merge_seconds),
                   field("problems", &H::problems), sparse("finished", &H::finished));
}

}  // namespace redzone::fleet
