// Where a campaign puts what it found. Implemented over the store, and by a recorder in tests.
#pragma once

#include <optional>

#include "campaign/evaluator.h"
#include "core/error.h"
#include "core/finding.h"

namespace redzone::campaign {

struct Recorded {
  std::int64_t id = 0;
  bool is_new = false;  // no finding had this signature before
};

class FindingSink {
 public:
  virtual ~FindingSink() = default;

  // At once, before anything is confirmed. A finding with this signature gains an occurrence
  // instead.
  virtual Result<Recorded> record(const Finding& finding) = 0;
  // Replaces what is stored under finding.id. When the signature has changed to one that another
  // finding has, the two become one: the other's id is returned and is_new is false.
  virtual Result<Recorded> update(const Finding& finding) = 0;
  // `plans` more plans that showed it.
  virtual Result<void> sighted(std::int64_t id, std::int64_t plans) = 0;
  // Whether a finding with this signature and a minimal plan is stored: it need not be reduced
  // again.
  virtual bool settled(const Signature& signature) = 0;
  virtual Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                                const Answer& answer) = 0;
};

}  // namespace redzone::campaign
