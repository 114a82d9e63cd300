// Accounts for calls of the functions in specs (work, predicates, references): which function runs
// now, how much time each took, and when no further call may start.
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

// Thrown instead of a call after the time limit. The code that set the limit (SpecCalls::Until)
// catches the exception; it does not mean that the spec is wrong.
class SpecCallsEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "the functions of the spec took too long"; }
};

// Number and total duration of the calls of one function.
struct SpecFunctionTime {
  std::string function;  // "target 't': the work function"
  std::uint64_t calls = 0;
  std::chrono::microseconds in_all{0};
};

// One thread at a time makes the calls. A second thread may query which function runs.
//
// The clock is cheap and has a resolution of a few milliseconds: the duration of one short call is
// rounded to 0 or to one tick; the sum over many calls is accurate.
class SpecCalls {
 public:
  class Function;

  SpecCalls() = default;
  SpecCalls(const SpecCalls&) = delete;
  SpecCalls& operator=(const SpecCalls&) = delete;

  // Registers a function. The result is for Running and is owned by this object.
  Function* keep(std::string name);
  // All functions, in the order in which they were registered.
  std::vector<SpecFunctionTime> times() const;

  // Marks the function as running while the object lives. `calls` may be null: then it does
  // nothing. The constructor throws SpecCallsEnded if no further call may start.
  class Running;

  // While the object lives, no call starts after `ended` has returned true. `ended` is called at
  // most once every few milliseconds. Of nested objects the innermost applies. `calls` may be null:
  // then it does nothing.
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
  // For the second thread: the function that runs, or null, and the number of calls so far.
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
  std::int64_t asked_us_ = 0;  // time of the last call of ended_
  mutable std::mutex mutex_;   // guards functions_
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

// Warnings for a period in which the functions took more than half of `elapsed`: one line for each
// slow function with a large share of that time, such as "target 't': the work function takes 500
// ms a call". `before` and `after` are times() of the same object at the start and the end of the
// period.
std::vector<std::string> slow_functions(const std::vector<SpecFunctionTime>& before,
                                        const std::vector<SpecFunctionTime>& after,
                                        std::chrono::microseconds elapsed);

}  // namespace redzone
