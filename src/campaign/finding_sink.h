// Receives the findings of a campaign. Implemented over the store, and by a recorder in tests.
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

  // Called as soon as a suspect is seen, before confirmation. If a finding with this signature
  // exists, it gains an occurrence instead.
  virtual Result<Recorded> record(const Finding& finding) = 0;
  // Replaces what is stored under finding.id. If another finding has the new signature, the two are
  // merged: the other finding's id is returned and is_new is false.
  virtual Result<Recorded> update(const Finding& finding) = 0;
  // Adds `plans` occurrences to the finding.
  virtual Result<void> sighted(std::int64_t id, std::int64_t plans) = 0;
  // True if a finding with this signature is stored as confirmed with a minimal plan, so no
  // reduction is needed.
  virtual bool settled(const Signature& signature) = 0;
  virtual Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                                const Answer& answer) = 0;
};

}  // namespace redzone::campaign
