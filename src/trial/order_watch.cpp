#include "trial/order_watch.h"

namespace redzone::trial {
namespace {

// Given when the second operation has run, and when the first one has.
constexpr int kSecondRan = 0, kFirstRan = 1;

}  // namespace

void OrderWatch::begin(const TrialSpec& trial, int streams, int plan_streams) {
  record_.reset();
  direction_.reset();
  first_seen_ = second_seen_ = first_frees_ = released_ = host_is_last_ = false;
  if (!trial.records_order) return;
  record_.emplace(static_cast<std::size_t>(streams), plan_streams);
  direction_ = trial.direction;
}

device::Status<void> OrderWatch::before(Operation operation, int stream) {
  if (operation == direction_->first && direction_->second_first)
    return device_.await(stream, kSecondRan);
  if (operation == direction_->second && !direction_->second_first)
    return device_.await(stream, kFirstRan);
  return {};
}

device::Status<void> OrderWatch::after(Operation operation, int stream) {
  if (operation == direction_->first) {
    first_seen_ = true;
    if (direction_->second_first) return {};
    RZ_TRY(device_.give(stream, kFirstRan));
    if (first_frees_) return {};
    return device_.await(stream, kSecondRan);
  }
  if (operation != direction_->second) return {};
  second_seen_ = true;
  return device_.give(stream, kSecondRan);
}

bool OrderWatch::frees(Operation operation) {
  if (!direction_ || operation != direction_->first) return false;
  first_frees_ = true;
  if (direction_->second_first) first_seen_ = true;
  return direction_->second_first;
}

bool OrderWatch::host_uses(Operation operation) {
  if (!direction_ || operation != direction_->second) return false;
  second_seen_ = true;
  host_is_last_ = direction_->second_first;
  // What is held behind the first operation has nothing to wait for.
  if (!direction_->second_first) device_.give_now(kSecondRan);
  return !direction_->second_first;
}

void OrderWatch::host_call_ended() {
  if (host_is_last_) device_.give_now(kSecondRan);
  host_is_last_ = false;
}

void OrderWatch::synchronizes() {
  const bool waits_for_host = host_is_last_ && second_seen_;
  if (!direction_ || !first_seen_ || (second_seen_ && !waits_for_host)) return;
  released_ = true;
  host_is_last_ = false;
  for (int signal = 0; signal < device::kOrderSignals; ++signal) device_.give_now(signal);
}

std::optional<OrderObservation> OrderWatch::end() {
  if (!record_) return std::nullopt;
  OrderObservation out{record_->candidates(), false};
  out.directed = direction_ && first_seen_ && second_seen_ && !released_ && device_.kept_signals();
  return out;
}

}  // namespace redzone::trial
