#include "trial/order_watch.h"

namespace redzone::trial {
namespace {

// The signal that is given when the second operation has run.
constexpr int kSecondRan = 0;

}  // namespace

void OrderWatch::begin(const TrialSpec& trial, int streams, int plan_streams) {
  record_.reset();
  direction_.reset();
  first_seen_ = second_seen_ = first_frees_ = released_ = host_is_last_ = false;
  streams_ = streams;
  if (!trial.records_order) return;
  record_.emplace(static_cast<std::size_t>(streams), plan_streams);
  direction_ = trial.direction;
}

bool OrderWatch::is_held(int stream) const {
  return !second_ran() && !first_frees_ && record_->before_later(direction_->first, stream);
}

// Orders each operation after the previous one. An operation on a stream that is not held must not
// wait for held streams; instead all other streams wait for it as soon as it is enqueued, because
// its own stream may be held afterwards.
device::Status<void> OrderWatch::before(Operation operation, int stream) {
  if (second_ran() || is_held(stream))
    for (int on = 0; on < streams_; ++on)
      if (on != stream && (second_ran() || is_held(on))) RZ_TRY(device_.wait(stream, on));
  if (operation != direction_->first || !direction_->second_first) return {};
  return device_.await(stream, kSecondRan);
}

device::Status<void> OrderWatch::after(Operation operation, int stream) {
  const bool is_first = operation == direction_->first;
  const bool leads = is_first ? !direction_->second_first : !second_ran() && !is_held(stream);
  if (leads)
    for (int other = 0; other < streams_; ++other)
      if (other != stream) RZ_TRY(device_.wait(other, stream));
  if (is_first) {
    first_seen_ = true;
    if (direction_->second_first || first_frees_) return {};
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
  // Operations held behind the first operation have nothing to wait for.
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
  device_.give_now(kSecondRan);
}

std::optional<OrderObservation> OrderWatch::end(bool lost) {
  if (!record_) return std::nullopt;
  OrderObservation out{record_->candidates(), false};
  out.directed =
      direction_ && !lost && first_seen_ && second_seen_ && !released_ && device_.kept_signals();
  return out;
}

}  // namespace redzone::trial
