// Notices a function of a spec that does not return.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace redzone {

// The functions of a spec run in the driver, which asks them all the time and has nobody that
// watches over it. So a thread looks whether the same call of one is still running. It counts its
// own looks and no clock, so that a process that was stopped for a while is not blamed.
//
// One thread at a time calls the functions: of two at once one may be overlooked, and none is
// blamed that returns.
class SpecWatch {
 public:
  // Told on the watch's own thread, once, which function has not returned for `limit`.
  using Stuck = std::function<void(const std::string& function)>;
  SpecWatch(std::chrono::milliseconds limit, Stuck stuck);
  ~SpecWatch();
  SpecWatch(const SpecWatch&) = delete;
  SpecWatch& operator=(const SpecWatch&) = delete;

  // A name to pass to Running, which lives as long as the watch.
  const std::string* keep(std::string function);

  // While it lives the function runs. `watch` may be null: nobody looks.
  class Running {
   public:
    Running(SpecWatch* watch, const std::string* function) : watch_(watch) {
      if (watch_ == nullptr) return;
      watch_->calls_.store(watch_->calls_.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
      watch_->running_.store(function, std::memory_order_release);
    }
    ~Running() {
      if (watch_ != nullptr) watch_->running_.store(nullptr, std::memory_order_release);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    SpecWatch* watch_;
  };

 private:
  void look(const std::stop_token& stop);

  std::chrono::milliseconds limit_;
  Stuck stuck_;
  std::atomic<const std::string*> running_{nullptr};
  std::atomic<std::uint64_t> calls_{0};
  std::mutex mutex_;  // of the names, and of what the thread sleeps on
  std::condition_variable_any wake_;
  std::deque<std::string> names_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace redzone
