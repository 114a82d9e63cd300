// How long a gate stays closed before its watchdog opens it.
//
// A target that waits for the device while its streams are held waits until then, and does so again
// in the next plan: a library that loads a kernel at its first use, or copies a result to the host.
// So each hold that runs out halves the limit of the later ones, and each one that was opened in
// time raises it to several times what that took.
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
  static constexpr int kMargin = 8;  // times the duration of a hold that was opened in time

  // Of the next hold: kShortest .. kLongestHold.
  Duration value() const { return value_; }

  void ran_out() { value_ = std::max(kShortest, value_ / 2); }
  void opened_after(Duration held) {
    value_ = std::clamp(kMargin * std::min(held, kLongestHold), value_, kLongestHold);
  }

 private:
  Duration value_ = kLongestHold;
};

}  // namespace redzone::device::cuda
