// A shard's side of the leases: requests from the hub whether to reduce a finding.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fleet/known_elsewhere.h"
#include "fleet/leases.h"

namespace redzone::fleet {

// How requests reach the hub.
class Inquiries {
 public:
  virtual ~Inquiries() = default;

  // Sends request `number` about the signature. Returns false if it could not be sent.
  virtual bool ask(std::int64_t number, const std::string& signature) = 0;
  // Returns the answer and removes it; empty if there is no answer yet.
  virtual std::optional<Answer> take_answer(std::int64_t number, const std::string& signature) = 0;
};

struct LeaseTimes {
  double lease = 600;          // duration of a lease, for the hub and the shards
  double answer_timeout = 30;  // how long to wait for an answer
  double pause = 300;          // how long no answer is awaited from a hub that did not answer
};

class LeaseClient {
 public:
  // `now`: seconds of a monotonic clock. `inquiries` and `elsewhere` are borrowed.
  LeaseClient(Inquiries& inquiries, KnownElsewhere& elsewhere, std::function<double()> now,
              LeaseTimes times)
      : inquiries_(inquiries), elsewhere_(elsewhere), now_(std::move(now)), times_(times) {}

  // Returns whether this shard is to reduce the finding. Returns false, without a request, if the
  // finding is published as reduced; returns nothing while the hub has not decided: call again. A
  // hub that does not answer delays nothing: the shard then reduces the finding, even though
  // another shard may do the same.
  std::optional<bool> reduces(const std::string& signature);
  // True while this shard has the lease.
  bool holds(const std::string& signature) const;

 private:
  struct Question {
    std::int64_t number = 0;
    double asked = 0;
  };

  Inquiries& inquiries_;
  KnownElsewhere& elsewhere_;
  std::function<double()> now_;
  LeaseTimes times_;
  std::int64_t asked_ = 0;                // number of requests so far
  std::optional<double> no_answer_at_;    // when the last wait timed out
  std::map<std::string, Question> open_;  // by signature
  std::map<std::string, double> until_;   // end of each lease that is held
};

}  // namespace redzone::fleet
