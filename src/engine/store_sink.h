// Puts what a campaign finds into the store.
#pragma once

#include <set>

#include "campaign/finding_sink.h"
#include "store/store.h"

namespace redzone::engine {

class StoreSink final : public campaign::FindingSink {
 public:
  explicit StoreSink(store::Store& store) : store_(store) {}

  // The finding may be renamed by update(): it is what is being worked on.
  void own(std::int64_t id) { owned_.insert(id); }

  Result<campaign::Recorded> record(const Finding& finding) override;
  Result<campaign::Recorded> update(const Finding& finding) override;
  Result<void> sighted(std::int64_t id, std::int64_t plans) override;
  bool settled(const Signature& signature) override;
  Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                        const campaign::Answer& answer) override;

 private:
  store::Store& store_;
  // Rows that were made for the suspect at hand. A finding that was there before keeps its
  // signature, also when a suspect that looked like it turns out to be something else.
  std::set<std::int64_t> owned_;
};

}  // namespace redzone::engine
