// The calls of the functions of specs: which one runs, how long they took, and when there are to be
// no more of them.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace redzone {

// Thrown in place of a call for which no time is left. No mistake of anybody: who set the end
// catches it.
class SpecCallsEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "the functions of the spec took too long"; }
};

// How long the calls of one function took.
struct SpecFunctionTime {
  std::string function;  // "target 't': the work function"
  std::uint64_t calls = 0;
  std::chrono::microseconds in_all{0};
};

// One thread at a time makes the calls. Another one may look which of them runs.
//
// Time is read from a clock that is cheap and moves every few milliseconds: that of one short call
// is 0 or too much, and that of many is right.
class SpecCalls {
 public:
  class Function;

  SpecCalls() = default;
  SpecCalls(const SpecCalls&) = delete;
  SpecCalls& operator=(const SpecCalls&) = delete;

  // One to pass to Running, which lives as long as this.
  Function* keep(std::string name);
  // Of all functions, in the order in which they were kept.
  std::vector<SpecFunctionTime> times() const;

  // While it lives the function runs. `calls` may be null: nobody looks. Throws SpecCallsEnded
  // where there is to be no such call.
  class Running;

  // While it lives there are no more calls once `ended` says so, which is asked at most every few
  // milliseconds. The innermost counts. `calls` may be null: nothing ends.
  class Until {
   public:
    Until(SpecCalls* calls, std::function<bool()> ended) : calls_(calls), outer_(std::move(ended)) {
      if (calls_ != nullptr) std::swap(calls_->ended_, outer_);
    }
    ~Until() {
      if (calls_ != nullptr) std::swap(calls_->ended_, outer_);
    }
    Until(const Until&) = delete;
    Until& operator=(const Until&) = delete;

   private:
    SpecCalls* calls_;
    std::function<bool()> outer_;
  };

 protected:
  // For another thread: the function that runs, or null, and how many calls there were.
  const Function* running() const { return running_.load(std::memory_order_acquire); }
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  static std::int64_t now_us() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
  }
  void check_end(std::int64_t now) {
    if (!ended_ || now == asked_us_) return;
    if (ended_()) throw SpecCallsEnded();
    asked_us_ = now;
  }

  std::atomic<const Function*> running_{nullptr};
  std::atomic<std::uint64_t> calls_{0};
  std::function<bool()> ended_;
  std::int64_t asked_us_ = 0;  // when ended_ said no
  mutable std::mutex mutex_;   // of the list of functions
  std::deque<Function> functions_;
};

class SpecCalls::Function {
 public:
  explicit Function(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  friend class SpecCalls;
  std::string name_;
  std::uint64_t calls_ = 0;
  std::int64_t in_all_us_ = 0;
};

class SpecCalls::Running {
 public:
  Running(SpecCalls* calls, Function* function) : calls_(calls), function_(function) {
    if (calls_ == nullptr) return;
    begun_us_ = now_us();
    calls_->check_end(begun_us_);
    calls_->calls_.store(calls_->calls() + 1, std::memory_order_relaxed);
    calls_->running_.store(function, std::memory_order_release);
  }
  ~Running() {
    if (calls_ == nullptr) return;
    calls_->running_.store(nullptr, std::memory_order_release);
    ++function_->calls_;
    function_->in_all_us_ += now_us() - begun_us_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  SpecCalls* calls_;
  Function* function_;
  std::int64_t begun_us_ = 0;
};

// What to say of functions that took more than half of `elapsed`: of each that had a good part of
// it, what a call takes. "target 't': the work function takes 500 ms a call". `before` and `after`
// are times() of the same object.
std::vector<std::string> slow_functions(const std::vector<SpecFunctionTime>& before,
                                        const std::vector<SpecFunctionTime>& after,
                                        std::chrono::microseconds elapsed);

}  // namespace redzone
