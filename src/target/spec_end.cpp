#include "target/spec_end.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace redzone {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
constexpr std::size_t kStackBytes = 256 * 1024;

struct Told {
  std::function<const std::string*()> running;
  SpecEnd::End end;
  pid_t process = 0;
  std::array<struct sigaction, kSignals.size()> before = {};
};

// Global, because handlers have no argument for it.
std::unique_ptr<Told>& told() {
  static std::unique_ptr<Told> one;
  return one;
}

void tell(std::string_view what, std::string_view signal) {
  if (told() == nullptr || told()->process != ::getpid()) return;
  const std::string* const function = told()->running();
  if (function == nullptr) return;
  SignalLine line;
  told()->end(*function, line << what << signal);
}

void on_exit() {
  tell("ended the process by exit()", "");
}

// A signal that no function of a spec has caused goes to the previous handler.
void on_signal(int signal) {
  tell("ended with SIG", sigabbrev_np(signal));
  for (std::size_t i = 0; told() != nullptr && i < kSignals.size(); ++i)
    if (kSignals[i] == signal) ::sigaction(signal, &told()->before[i], nullptr);
  ::raise(signal);
}

}  // namespace

SpecEnd::SpecEnd(std::function<const std::string*()> running, End end) {
  if (told() != nullptr) return;
  tells_ = true;
  // An alternate stack, because an endless recursion leaves no stack space for the handler.
  stack_ = std::make_unique<std::byte[]>(kStackBytes);
  stack_t stack = {};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, &stack_before_);
  told() = std::make_unique<Told>(Told{std::move(running), std::move(end), ::getpid()});
  // Registered after told() was called, so that the handler runs before the static object is
  // destroyed.
  [[maybe_unused]] static const int registered = std::atexit(on_exit);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_NODEFER | SA_ONSTACK;
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &action, &told()->before[i]);
}

SpecEnd::~SpecEnd() {
  if (!tells_) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &told()->before[i], nullptr);
  ::sigaltstack(&stack_before_, nullptr);
  told().reset();
}

}  // namespace redzone
