#include "target/spec_watch.h"

#include <signal.h>

#include <utility>

namespace redzone {
namespace {

// Number of checks after which a running function counts as stuck.
constexpr int kLooks = 20;

// Blocks signals in the new thread, because another thread waits for the process's signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

SpecWatch::SpecWatch(std::chrono::milliseconds limit, Stuck stuck)
    : limit_(limit), stuck_(std::move(stuck)) {
  const SignalsBlocked blocked;  // the new thread inherits the mask
  thread_ = std::jthread([this](const std::stop_token& stop) { look(stop); });
}

SpecWatch::~SpecWatch() = default;

void SpecWatch::look(const std::stop_token& stop) {
  const Function* seen = nullptr;
  std::uint64_t call = 0;
  int looks = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, limit_ / kLooks, [&] { return stop.stop_requested(); })) {
    const Function* now = running();
    const std::uint64_t calls = this->calls();
    looks = now != nullptr && now == seen && calls == call ? looks + 1 : 0;
    seen = now;
    call = calls;
    if (looks < kLooks) continue;
    stuck_(seen->name());
    return;
  }
}

}  // namespace redzone
