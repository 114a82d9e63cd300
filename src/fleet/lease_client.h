// A shard's side of the leases: asks the hub whether it is to reduce a finding.
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

// How questions reach the hub.
class Inquiries {
 public:
  virtual ~Inquiries() = default;

  // Sends question `number` about the signature. False: it could not be sent.
  virtual bool ask(std::int64_t number, const std::string& signature) = 0;
  // The answer, which is taken; nothing as long as there is none.
  virtual std::optional<Answer> take_answer(std::int64_t number, const std::string& signature) = 0;
};

struct LeaseTimes {
  double lease = 600;    // how long a lease lasts, for the hub as for the shards
  double patience = 30;  // how long an answer is waited for
  double pause = 300;    // for how long a hub that did not answer is not waited for
};

class LeaseClient {
 public:
  // `now`: seconds of a monotonic clock. `inquiries` and `elsewhere` are borrowed.
  LeaseClient(Inquiries& inquiries, KnownElsewhere& elsewhere, std::function<double()> now,
              LeaseTimes times)
      : inquiries_(inquiries), elsewhere_(elsewhere), now_(std::move(now)), times_(times) {}

  // Whether this shard is to reduce the finding. False, without a question, if it is published as
  // reduced; nothing as long as the hub has not decided: ask again. A hub that does not answer does
  // not hold anything up: the shard reduces the finding, at the risk that another one does, too.
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
  std::int64_t asked_ = 0;                // questions so far
  std::optional<double> no_answer_at_;    // when the last wait was given up
  std::map<std::string, Question> open_;  // by signature
  std::map<std::string, double> until_;   // the leases held
};

}  // namespace redzone::fleet
