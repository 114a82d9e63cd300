// A fleet in memory: shards that find things, a shared folder, and a hub, all of which can be
// killed at any point. Findings are texts. A simulated clock, in seconds, that the caller advances.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fleet/hub.h"
#include "fleet/lease_client.h"

namespace redzone::fleet::testing {

using Things = std::set<std::string>;

// What lies in the shared folder. It outlives everybody.
struct MemoryShare {
  std::map<Attempt, std::pair<std::int64_t, Things>> snapshots;  // the latest of each attempt
  std::map<Request, int> requests;
  std::map<Request, Answer> answers;
  std::vector<Lease> leases;
  Things hub;  // as published, and which snapshots it has
  std::map<Attempt, std::int64_t> merged;
  Things reduced;             // findings whose plan is minimal in a snapshot
  int hub_attempt = 0;        // the latest
  std::int64_t messages = 0;  // files written
  std::int64_t questions = 0;
  std::int64_t looks = 0;  // for an answer that may not be there yet
  std::int64_t pulls = 0;  // of the hub's store
};

inline Things reduced_in(const Things& store, const MemoryShare& share) {
  Things out;
  for (const auto& thing : share.reduced)
    if (store.contains(thing)) out.insert(thing);
  return out;
}

class MemoryHub final : public HubFolder {
 public:
  MemoryHub(MemoryShare& share, int attempt)
      : share_(share), attempt_(attempt), own_(share.hub), merged_(share.merged) {}

  bool is_owner() override { return share_.hub_attempt == attempt_; }
  Result<std::vector<SnapshotName>> snapshots() override {
    std::vector<SnapshotName> names;
    for (const auto& [attempt, s] : share_.snapshots) names.push_back({attempt, s.first});
    return names;
  }
  Result<bool> merge(const SnapshotName& name) override {
    const auto& [number, things] = share_.snapshots.at(name.attempt);
    if (number != name.number) return false;
    if (broken == name.attempt) return harness_error("not sound");
    own_.insert(things.begin(), things.end());
    merged_[name.attempt] = number;
    return true;
  }
  Result<std::map<Attempt, std::int64_t>> merged() override { return merged_; }
  Result<std::set<std::string>> reduced() override { return reduced_in(own_, share_); }
  Result<void> publish() override {
    share_.hub = own_;
    share_.merged = merged_;
    ++share_.messages;
    return {};
  }
  Result<std::vector<Request>> requests() override {
    std::vector<Request> all;
    for (const auto& [request, n] : share_.requests) all.push_back(request);
    return all;
  }
  Result<void> answer(const Request& request, Answer answer) override {
    share_.answers[request] = answer;
    share_.requests.erase(request);
    ++share_.messages;
    return {};
  }
  Result<std::vector<Lease>> leases() override { return share_.leases; }
  Result<void> keep(const std::vector<Lease>& leases) override {
    share_.leases = leases;
    ++share_.messages;
    return {};
  }

  std::optional<Attempt> broken;  // its snapshots cannot be merged

 private:
  MemoryShare& share_;
  int attempt_;
  Things own_;
  std::map<Attempt, std::int64_t> merged_;
};

class MemoryInquiries final : public Inquiries {
 public:
  MemoryInquiries(MemoryShare& share, const Attempt& attempt) : share_(share), attempt_(attempt) {}

  bool ask(std::int64_t number, const std::string& signature) override {
    share_.requests[{attempt_, number, signature}] = 1;
    ++share_.messages;
    ++share_.questions;
    return true;
  }
  std::optional<Answer> take_answer(std::int64_t number, const std::string& signature) override {
    ++share_.looks;
    const auto answer = share_.answers.find({attempt_, number, signature});
    if (answer == share_.answers.end()) return std::nullopt;
    const Answer taken = answer->second;
    share_.answers.erase(answer);
    return taken;
  }

 private:
  MemoryShare& share_;
  Attempt attempt_;
};

// One attempt of a shard: what it has found, and its side of the leases.
struct MemoryShard {
  MemoryShard(MemoryShare& share, const Attempt& own, std::function<double()> now, LeaseTimes times)
      : attempt(own),
        inquiries(share, own),
        elsewhere([&share] { return pull(share); }, now, times.lease / kPullsALease),
        leases(inquiries, elsewhere, now, times) {
    // As snapshots_before() orders them.
    for (const auto& [other, snapshot] : share.snapshots)
      if (other.shard == own.shard && other < own) things = snapshot.second;
  }
  void publish(MemoryShare& share) {
    auto& [number, published] = share.snapshots[attempt];
    ++number;
    published = things;
    ++share.messages;
  }

  static constexpr double kPullsALease = 5;  // as Fleet has it: 120 of 600 seconds
  static Result<Things> pull(MemoryShare& share) {
    ++share.pulls;
    return reduced_in(share.hub, share);
  }

  Attempt attempt;
  Things things = {};
  MemoryInquiries inquiries;
  KnownElsewhere elsewhere;
  LeaseClient leases;
};

}  // namespace redzone::fleet::testing
