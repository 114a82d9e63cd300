#include "fleet/lease_client.h"

namespace redzone::fleet {

bool LeaseClient::holds(const std::string& signature) const {
  const auto until = until_.find(signature);
  return until != until_.end() && now_() < until->second;
}

std::optional<bool> LeaseClient::reduces(const std::string& signature) {
  const double now = now_();
  if (holds(signature)) return true;
  auto question = open_.find(signature);
  if (question == open_.end()) {
    if (elsewhere_.is_reduced(signature)) return false;
    const std::int64_t number = ++asked_;
    if (!inquiries_.ask(number, signature)) return true;
    question = open_.emplace(signature, Question{number, now}).first;
  }
  const auto [number, asked] = question->second;
  if (const auto answer = inquiries_.take_answer(number, signature)) {
    open_.erase(question);
    no_answer_at_.reset();
    if (*answer != Answer::granted) return false;
    until_[signature] = asked + times_.lease;
    return true;
  }
  const bool away = no_answer_at_ && now - *no_answer_at_ < times_.pause;
  if (!away && now - asked < times_.answer_timeout) return std::nullopt;
  if (!away) no_answer_at_ = now;
  open_.erase(question);
  return true;
}

}  // namespace redzone::fleet
