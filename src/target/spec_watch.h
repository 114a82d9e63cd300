// Detects functions of a spec that do not return.
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

// The functions of a spec run in the driver, which calls them often and has no supervisor. A thread
// therefore checks periodically whether the same call of a function is still running. It counts its
// own checks instead of time, so that stopping the process for a while causes no false report.
//
// One thread at a time should call the functions: with two at once a stuck one may be missed, but a
// function that returns is never reported.
class SpecWatch {
 public:
  // Called once, on the watch's own thread, with the function that has not returned for `limit`.
  using Stuck = std::function<void(const std::string& function)>;
  SpecWatch(std::chrono::milliseconds limit, Stuck stuck);
  ~SpecWatch();
  SpecWatch(const SpecWatch&) = delete;
  SpecWatch& operator=(const SpecWatch&) = delete;

  // Stores a name for Running, for the lifetime of the watch.
  const std::string* keep(std::string function);

  // Marks a function as running while the object lives. `watch` may be null: not watched.
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
  std::mutex mutex_;  // guards the names and the thread's sleep
  std::condition_variable_any wake_;
  std::deque<std::string> names_;
  std::jthread thread_;  // last member: it uses the others
};

}  // namespace redzone
