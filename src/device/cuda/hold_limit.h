// How long a gate stays closed before its watchdog opens it.
//
// A target that waits for the device while its streams are held waits until then, and does so again
// in the next plan: a library that loads a kernel at its first use, or copies a result to the host.
// So each hold that runs out halves the limit of the later ones, and each one that was opened in
// time raises it to several times what that took. Now and then a hold has all the time, because
// enqueueing may take longer than the limit has become, which a hold that runs out does not tell.
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
  static constexpr int kMargin = 8;   // times the duration of a hold that was opened in time
  static constexpr int kPeriod = 16;  // every 16th of holds that run out in a row has all the time

  // Of the next hold: kShortest .. kLongestHold.
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
  unsigned run_out_ = 0;  // holds since one was opened in time
};

}  // namespace redzone::device::cuda
