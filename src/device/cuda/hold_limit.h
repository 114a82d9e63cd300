// How long a gate stays closed before its watchdog opens it.
//
// A target may wait for the device while its streams are held, for example in a library that loads
// a kernel at its first use or copies a result to the host. It then waits until the watchdog opens
// the gate, and does so again in the next plan. Therefore each hold that reaches the limit halves
// the limit of later holds, and each hold that is opened in time raises the limit to several times
// its duration. From time to time a hold gets the longest limit: enqueueing may take longer than
// the current limit, which a hold that reaches the limit cannot show.
#pragma once

#include <algorithm>
#include <chrono>

namespace redzone::device::cuda {

// Enqueueing a full queue of launches takes milliseconds, and about 100 ms under memcheck.
inline constexpr std::chrono::nanoseconds kLongestHold = std::chrono::milliseconds(250);

class HoldLimit {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr Duration kShortest = std::chrono::milliseconds(10);
  static constexpr int kMargin = 8;   // factor for the duration of a hold that was opened in time
  static constexpr int kPeriod = 16;  // in a series of holds that run out, every 16th gets
                                      // kLongestHold

  // Limit of the next hold: kShortest .. kLongestHold.
  Duration value() const { return run_out_ % kPeriod == kPeriod - 1 ? kLongestHold : value_; }

  void ran_out() {
    value_ = std::max(kShortest, value_ / 2);
    ++run_out_;
  }
  void opened_after(Duration held) {
    value_ = std::clamp(kMargin * std::min(held, kLongestHold), value_, kLongestHold);
    run_out_ = 0;
  }

 private:
  Duration value_ = kLongestHold;
  unsigned run_out_ = 0;  // holds that ran out since one was opened in time
};

}  // namespace redzone::device::cuda
