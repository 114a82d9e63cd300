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
  Things hub;                 // as published
  Things reduced;             // findings whose plan is minimal in a snapshot
  int hub_attempt = 0;        // the latest
  std::int64_t messages = 0;  // files written
};

class MemoryHub final : public HubFolder {
 public:
  MemoryHub(MemoryShare& share, int attempt) : share_(share), attempt_(attempt), own_(share.hub) {}

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
    return true;
  }
  Result<std::set<std::string>> reduced() override {
    Things out;
    for (const auto& thing : share_.reduced)
      if (own_.contains(thing)) out.insert(thing);
    return out;
  }
  Result<void> publish() override {
    share_.hub = own_;
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
};

class MemoryInquiries final : public Inquiries {
 public:
  MemoryInquiries(MemoryShare& share, const Attempt& attempt) : share_(share), attempt_(attempt) {}

  bool ask(std::int64_t number, const std::string& signature) override {
    share_.requests[{attempt_, number, signature}] = 1;
    ++share_.messages;
    return true;
  }
  std::optional<Answer> take_answer(std::int64_t number, const std::string& signature) override {
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
      : attempt(own), inquiries(share, own), leases(inquiries, std::move(now), times) {
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

  Attempt attempt;
  Things things = {};
  MemoryInquiries inquiries;
  LeaseClient leases;
};

}  // namespace redzone::fleet::testing
