// A fleet as a plain value, and its text, JSON and HTML page. Times are UTC, ISO 8601, from the
// clocks of the nodes that wrote them.
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
  std::string host;   // host of the latest attempt
  std::string device;
  int attempts = 0;
  std::uint64_t plans = 0;
  double seconds = 0;         // duration of the shard's campaign
  std::int64_t findings = 0;  // confirmed and flaky findings that this shard saw first
  std::string published;      // the shard's latest snapshot; "" if there is none
  std::string problem;        // the last failure, one line
};

struct FleetJob {
  std::string kind;  // "shard", "examination", "hub"
  int number = 1;    // number of the shard or the model
};

// An attempt that failed or ended without a report. The work since its last published snapshot may
// be lost.
struct FleetLoss {
  FleetJob job;
  int attempt = 1;
  std::string host;
  std::string why;
  std::string since;     // time of the attempt's last snapshot, or of its start
  std::string again_at;  // start of the job's next attempt; "" if there is none
};

// A GPU model, and the job that examines the findings on it after the shards.
struct FleetModel {
  std::string name;  // the site's name for the model; "" if the site does not name models
  int shards = 0;
  std::string state;  // state of the examination, with the values of FleetShard::state
  std::string host;
  int attempts = 0;
  std::string problem;
};

// Compares the results of a finding's plan, with its seeds, on several devices.
struct FleetComparison {
  struct Device {
    std::string device;
    std::int64_t failed = 0, runs = 0;  // runs that failed with the finding's signature, of all
                                        // judged runs
    std::string says = {};              // "fails", "passes", "undecided"
  };

  std::int64_t finding = 0;  // id in the hub's store
  std::string signature, found_on;
  bool differs = false;  // the plan fails on one device and passes on another
  std::vector<Device> devices = {};
};

struct Fleet {
  std::string folder, created, version;
  bool has_night = true;  // a shard has published its night, so the night has a report
  std::uint64_t seed = 0;
  std::vector<FleetShard> shards;  // all shards, by number
  std::vector<FleetModel> models;
  std::vector<FleetLoss> losses;
  // Number of findings by state, for each device on which a finding occurred.
  std::map<std::string, std::map<std::string, std::int64_t>> findings;
  std::vector<FleetComparison> comparisons;  // differing ones first
  std::optional<double> seconds_to_first;    // from submission to the first finding; empty without
                                             // a finding
  std::string hub_state;                     // "waiting", "running", "ended"
  std::string hub_host, hub_updated;
  int hub_attempts = 0;
  std::int64_t merges = 0, granted = 0, leased = 0, reduced = 0;
  double merge_seconds = 0;
  std::vector<std::string> problems;       // problems of the hub, one line each
  std::vector<std::string> not_described;  // parts that are missing in this report, one line each
};

std::string fleet_text(const Fleet& fleet);
std::string fleet_json(const Fleet& fleet);
// Requires neither network nor scripts.
std::string fleet_html(const Fleet& fleet);

}  // namespace redzone::report
