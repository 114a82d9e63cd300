// A fleet as a plain value, and its table, JSON and page. Times are UTC, ISO 8601, by the clocks of
// the nodes that wrote them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redzone::report {

struct FleetShard {
  int shard = 1;
  std::string state;  // "waiting", "running", "ended", "cut off", "failed", "lost"
  std::string host;   // of its latest attempt
  std::string device;
  int attempts = 0;
  std::uint64_t plans = 0;
  double seconds = 0;         // of its campaign
  std::int64_t findings = 0;  // confirmed and flaky ones that it was the first to see
  std::string published;      // its latest snapshot; "" without one
  std::string problem;        // what failed last, one line
};

struct FleetJob {
  std::string kind;  // "shard", "examination", "hub"
  int number = 1;    // of the shard, or of the model
};

// An attempt that failed or ended without a word, and what may be lost with it: what it had done
// since it published last.
struct FleetLoss {
  FleetJob job;
  int attempt = 1;
  std::string host;
  std::string why;
  std::string since;     // its last snapshot, or its begin
  std::string again_at;  // when the next attempt of the job began; "": there is none
};

// A model of GPU, and the job that examines the findings on it after the shards.
struct FleetModel {
  std::string name;  // the site's word; "" if it names none
  int shards = 0;
  std::string state;  // of the examination, as of a shard
  std::string host;
  int attempts = 0;
  std::string problem;
};

// The plan of a finding, with its seeds, on several devices.
struct FleetComparison {
  struct Device {
    std::string device;
    std::int64_t failed = 0, runs = 0;  // as the finding does
    std::string says = {};              // "fails", "passes", "undecided"
  };

  std::int64_t finding = 0;  // its number in the hub's store
  std::string signature, found_on;
  bool differs = false;  // it fails on one and passes on another
  std::vector<Device> devices = {};
};

struct Fleet {
  std::string folder, created, version;
  bool has_night = true;  // a shard has published its night, and so the night has a report
  std::uint64_t seed = 0;
  std::vector<FleetShard> shards;  // all of them, by number
  std::vector<FleetModel> models;
  std::vector<FleetLoss> losses;
  // Number of findings by state, by each device on which one was met.
  std::map<std::string, std::map<std::string, std::int64_t>> findings;
  std::vector<FleetComparison> comparisons;  // those that differ first
  std::optional<double> seconds_to_first;    // from the submission; empty without a finding
  std::string hub_state;                     // "waiting", "running", "ended"
  std::string hub_host, hub_updated;
  int hub_attempts = 0;
  std::int64_t merges = 0, granted = 0, leased = 0, reduced = 0;
  double merge_seconds = 0;
  std::vector<std::string> problems;       // of the hub, one line each
  std::vector<std::string> not_described;  // what the report lacks, one line each
};

std::string fleet_text(const Fleet& fleet);
std::string fleet_json(const Fleet& fleet);
// Needs no network and no script.
std::string fleet_html(const Fleet& fleet);

}  // namespace redzone::report
