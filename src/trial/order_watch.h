// Records the order of a trial's operations if the trial requests it, and forces the order of two
// operations, `first` and `second`: see TrialSpec::direction.
//
// All other operations run one after another in the order of enqueueing, except that operations
// ordered after `first` run after `second`. Otherwise operations that are not held could run in
// different orders in the two trials, and the effect of another pair would be attributed to this
// pair.
#pragma once

#include <cstdint>
#include <optional>

#include "core/trial.h"
#include "device/device.h"
#include "order/record.h"

namespace redzone::trial {

class OrderWatch {
 public:
  using Operation = order::Record::Operation;

  // Must outlive the watch.
  explicit OrderWatch(device::Device& device) : device_(device) {}

  // `streams`: number of device streams, of which the plan names the first `plan_streams`.
  void begin(const TrialSpec& trial, int streams, int plan_streams);
  // Null unless the trial records.
  order::Record* record() { return record_ ? &*record_ : nullptr; }

  // Maximum number of waits for other streams that enqueue() adds to an operation.
  std::size_t added_waits() const {
    return direction_ ? 2 * static_cast<std::size_t>(streams_) : 0;
  }
  // Calls `enqueue` for an operation of the record on `stream`, in the order that the trial forces.
  // An operation without a number is enqueued unchanged.
  template <class Enqueue>
  device::Status<void> enqueue(std::optional<Operation> operation, int stream, Enqueue enqueue) {
    if (!operation || !direction_) return enqueue();
    RZ_TRY(before(*operation, stream));
    RZ_TRY(enqueue());
    return after(*operation, stream);
  }
  // Call before the operation frees memory. True if the freed memory must keep its bytes.
  bool frees(Operation operation);
  // The host may use the memory from now on until its call ends. True if the preceding operation
  // must finish first: the caller must wait for the device.
  bool host_uses(Operation operation);
  void host_call_ended();
  // Call before the host waits for all streams: releases a hold that nothing else would release.
  void synchronizes();

  // Requires an idle or a lost device; with a lost one the order is reported as not forced. Nullopt
  // unless the trial recorded.
  std::optional<OrderObservation> end(bool lost);

 private:
  // True if `second` has run, or will run before all operations enqueued from now on.
  bool second_ran() const { return second_seen_ && !host_is_last_; }
  // True if operations enqueued on `stream` from now on wait until `second` has run.
  bool is_held(int stream) const;
  device::Status<void> before(Operation operation, int stream);
  device::Status<void> after(Operation operation, int stream);

  device::Device& device_;
  std::optional<order::Record> record_;
  std::optional<Direction> direction_;
  int streams_ = 1;
  bool first_seen_ = false, second_seen_ = false;
  bool first_frees_ = false;
  bool released_ = false;      // a hold was ended early
  bool host_is_last_ = false;  // `second` is a use by the host, whose call has not ended
};

}  // namespace redzone::trial
