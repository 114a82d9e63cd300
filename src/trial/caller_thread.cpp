#include "trial/caller_thread.h"

#include <csignal>
#include <exception>
#include <thread>

namespace redzone::trial {
namespace {

constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;

// Stack overflows are handled on an alternate signal stack, which each thread must set for itself.
void set_signal_stack(std::byte* begin) {
  stack_t stack = {};
  stack.ss_sp = begin;
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
}

}  // namespace

void CallerThread::run(const std::function<void()>& code) {
  if (signal_stack_ == nullptr) signal_stack_ = std::make_unique<std::byte[]>(kSignalStackBytes);
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      set_signal_stack(signal_stack_.get());
      device_.attach_thread();
      code();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace redzone::trial
