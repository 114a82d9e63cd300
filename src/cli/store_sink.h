// Puts what a campaign finds into the store.
#pragma once

#include "campaign/finding_sink.h"
#include "store/store.h"

namespace redzone::cli {

class StoreSink final : public campaign::FindingSink {
 public:
  explicit StoreSink(store::Store& store) : store_(store) {}

  Result<campaign::Recorded> record(const store::Finding& finding) override;
  Result<campaign::Recorded> update(const store::Finding& finding) override;
  Result<void> sighted(std::int64_t id, std::int64_t plans) override;
  bool settled(const Signature& signature) override;
  Result<void> evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                        const campaign::Answer& answer) override;

 private:
  store::Store& store_;
};

}  // namespace redzone::cli
