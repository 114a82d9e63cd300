// Records progress in the black box during its lifetime. For work that is known to end, may take
// longer than the deadline of a trial, and runs in a library that cannot record progress itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "device/black_box.h"

namespace redzone::device::cuda {

class SignsOfLife {
 public:
  // `box` may be null, and must outlive this object, which must be the only writer of its progress
  // meanwhile.
  explicit SignsOfLife(BlackBox* box);
  ~SignsOfLife();
  SignsOfLife(const SignsOfLife&) = delete;
  SignsOfLife& operator=(const SignsOfLife&) = delete;

 private:
  void show(BlackBox& box);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace redzone::device::cuda
