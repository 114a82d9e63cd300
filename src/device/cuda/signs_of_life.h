// While this lives, the black box shows progress: what goes on is known to end, and may take longer
// than the deadline of a trial. It runs in a library that could not say so itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "device/black_box.h"

namespace redzone::device::cuda {

class SignsOfLife {
 public:
  // `box` may be null, and outlives this; nobody else writes its progress meanwhile.
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
