#include "engine/store_sink.h"

namespace redzone::engine {
namespace {

// The worker's end and last output, for a failure about which nothing else is known: the text of an
// assertion, the error of a library.
std::string last_words(const campaign::Answer& answer) {
  for (const auto& o : answer.observations)
    if (o.end == End::fault || o.end == End::exited)
      if (!o.message.empty()) return o.message;
  return {};
}

}  // namespace

Result<campaign::Recorded> StoreSink::record(const Finding& finding) {
  RZ_TRY_ASSIGN(auto r, store_.record(finding));
  if (r.is_new)
    owned_.insert(r.id);
  else
    owned_.erase(r.id);
  return campaign::Recorded{.id = r.id, .is_new = r.is_new};
}

Result<campaign::Recorded> StoreSink::update(const Finding& finding) {
  RZ_TRY_ASSIGN(auto r, store_.settle(finding, owned_.contains(finding.id)));
  if (r.id != finding.id && r.is_new) owned_.insert(r.id);
  return campaign::Recorded{.id = r.id, .is_new = r.is_new};
}

Result<void> StoreSink::sighted(std::int64_t id, std::int64_t plans) {
  return store_.sighted(id, plans);
}

bool StoreSink::settled(const Signature& signature) {
  auto known = store_.find(signature);
  return known && *known && (*known)->minimal && (*known)->state == FindingState::confirmed;
}

Result<void> StoreSink::evidence(std::int64_t id, std::string_view purpose, const Plan& plan,
                                 const campaign::Answer& answer) {
  // Another campaign may have merged the finding into another one, so there is nothing to attach
  // the evidence to.
  if (!store_.finding(id)) return {};
  for (std::size_t i = 0; i < answer.trials.size(); ++i)
    RZ_TRY(store_.add_trial(id, purpose, plan, answer.trials[i], answer.observations[i],
                            answer.verdict));
  const std::string words = last_words(answer);
  return words.empty() ? Result<void>() : store_.add_artifact(id, "log", purpose, words);
}

}  // namespace redzone::engine
