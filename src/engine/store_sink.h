// Writes the findings of a campaign to the store.
#pragma once

#include <set>

#include "campaign/finding_sink.h"
#include "store/store.h"

namespace redzone::engine {

class StoreSink final : public campaign::FindingSink {
 public:
  explicit StoreSink(store::Store& store) : store_(store) {}

  // Lets update() rename the finding; for a finding that the caller is triaging.
  void own(std::int64_t id) { owned_.insert(id); }

  Result<campaign::Recorded> record(const Finding& finding) override;
  Result<campaign::Recorded> update(const Finding& finding) override;
  Result<void> sighted(std::int64_t id, std::int64_t plans) override;
  bool settled(const Signature& signature) override;
  Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                        const campaign::Answer& answer) override;

 private:
  store::Store& store_;
  // Ids of findings created for the current suspects. A finding that existed before keeps its
  // signature, even if a suspect with that signature turns out to be a different failure.
  std::set<std::int64_t> owned_;
};

}  // namespace redzone::engine
