// Records the order of a trial's operations if it asks for that, and forces the order of two of
// them: see TrialSpec::direction.
//
// All others run one after another as they are enqueued, except that what comes after `first`
// follows when `second` has run. Else what is not held would be free to run in another order in the
// one trial than in the other, and another pair would make a difference that this one is blamed
// for.
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

  // `streams` of the device, of which the plan names the first `plan_streams`.
  void begin(const TrialSpec& trial, int streams, int plan_streams);
  // Null unless the trial records.
  order::Record* record() { return record_ ? &*record_ : nullptr; }

  // How many waits for another stream enqueue() adds to an operation, at most.
  std::size_t added_waits() const {
    return direction_ ? 2 * static_cast<std::size_t>(streams_) : 0;
  }
  // Enqueues an operation of the record on `stream` by `enqueue`, in the order that the trial
  // forces; one without a number as it is.
  template <class Enqueue>
  device::Status<void> enqueue(std::optional<Operation> operation, int stream, Enqueue enqueue) {
    if (!operation || !direction_) return enqueue();
    RZ_TRY(before(*operation, stream));
    RZ_TRY(enqueue());
    return after(*operation, stream);
  }
  // The operation frees memory. True if that is to keep its bytes.
  bool frees(Operation operation);
  // The host uses memory now, and until its call ends. True if the operation before it is to end
  // first: wait for the device.
  bool host_uses(Operation operation);
  void host_call_ended();
  // The host is about to wait for all streams: nothing may be held that nothing will release.
  void synchronizes();

  // Requires an idle device, or a lost one: then the order was not forced as far as is known.
  // Nothing unless the trial recorded.
  std::optional<OrderObservation> end(bool lost);

 private:
  // Or is to run before what is enqueued from now on.
  bool second_ran() const { return second_seen_ && !host_is_last_; }
  // Whether what is enqueued on `stream` from now on waits until `second` has run.
  bool is_held(int stream) const;
  device::Status<void> before(Operation operation, int stream);
  device::Status<void> after(Operation operation, int stream);

  device::Device& device_;
  std::optional<order::Record> record_;
  std::optional<Direction> direction_;
  int streams_ = 1;
  bool first_seen_ = false, second_seen_ = false;
  bool first_frees_ = false;
  bool released_ = false;      // a hold had to be ended
  bool host_is_last_ = false;  // `second` is a use of the host, whose call has not ended
};

}  // namespace redzone::trial
