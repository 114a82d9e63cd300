// A program on the CPU that does what its argument names: allocations as programs make them, and
// one mistake each.
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                \
  do {                                                  \
    if (!(condition)) {                                 \
      std::fprintf(stderr, "not so: %s\n", #condition); \
      _exit(3);                                         \
    }                                                   \
  } while (false)

namespace {

constexpr std::size_t kBytes = 4000;

// The compiler knows malloc(), and what must not be done with it.
template <class T>
T opaque(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Functions of their own in every backtrace.
[[gnu::noinline]] char* make_buffer(std::size_t bytes) {
  return opaque(static_cast<char*>(malloc(bytes)));
}
[[gnu::noinline]] void drop_buffer(char* at) {
  free(opaque(at));
}
[[gnu::noinline]] void write_at(volatile char* at) {
  *at = 1;
}
[[gnu::noinline]] int read_at(volatile const char* at) {
  return *at;
}

void use() {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{1024}, std::size_t{5000}, std::size_t{1} << 22}) {
    char* at = make_buffer(bytes);
    std::memset(at, 1, bytes);
    CHECK(malloc_usable_size(at) >= bytes);
    at = opaque(static_cast<char*>(realloc(at, bytes * 2)));
    CHECK(std::all_of(at, at + bytes, [](char c) { return c == 1; }));
    std::memset(at, 2, bytes * 2);
    at = opaque(static_cast<char*>(realloc(at, bytes / 2 + 1)));
    CHECK(at[bytes / 2] == 2);
    free(at);
    char* const zero = opaque(static_cast<char*>(calloc(bytes, 2)));
    CHECK(std::all_of(zero, zero + bytes * 2, [](char c) { return c == 0; }));
    free(zero);
    for (const std::size_t align : {16, 64, 4096, 1 << 21}) {
      void* aligned = nullptr;
      CHECK(posix_memalign(&aligned, align, bytes) == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(aligned) % align == 0);
      std::memset(opaque(aligned), 3, bytes);
      free(aligned);
      aligned = opaque(aligned_alloc(align, (bytes + align - 1) / align * align));
      CHECK(aligned != nullptr && reinterpret_cast<std::uintptr_t>(aligned) % align == 0);
      free(aligned);
      aligned = opaque(memalign(align, bytes));
      CHECK(aligned != nullptr && reinterpret_cast<std::uintptr_t>(aligned) % align == 0);
      free(aligned);
    }
  }
  void* out = nullptr;
  CHECK(posix_memalign(&out, 24, 4096) != 0);
  const std::size_t huge = opaque(SIZE_MAX / 2 + 100);
  CHECK(calloc(huge, 4) == nullptr && malloc(huge) == nullptr);
  CHECK(reallocarray(nullptr, huge, 4) == nullptr);
  free(nullptr);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      std::vector<char*> mine;
      for (std::size_t i = 0; i < 300; ++i) {
        mine.push_back(make_buffer(1024 + i));
        std::memset(mine.back(), 4, 1024 + i);
        if (i % 3 == 0) {
          drop_buffer(mine.back());
          mine.pop_back();
        }
      }
      for (char* const at : mine) drop_buffer(at);
    });
  for (auto& thread : threads) thread.join();
}

extern "C" void leave_with_9(int) {
  _exit(9);
}

sigjmp_buf back;
extern "C" void jump_back(int number, siginfo_t* info, void*) {
  siglongjmp(back, info->si_addr == nullptr ? 2 : number == SIGSEGV ? 1 : 3);
}

int with_handler(char* at) {
  struct sigaction action = {};
  action.sa_sigaction = jump_back;
  action.sa_flags = SA_SIGINFO;
  struct sigaction before = {};
  CHECK(sigaction(SIGSEGV, &action, &before) == 0 && before.sa_handler == SIG_DFL);
  CHECK(sigaction(SIGSEGV, nullptr, &before) == 0 && before.sa_sigaction == jump_back);
  // Twice: the handler stays, as the program has asked for.
  for (int i = 0; i < 2; ++i) {
    if (sigsetjmp(back, 1) == 0) {
      write_at(at + kBytes);
      return 4;
    }
  }
  return 0;
}

// Interrupts allocations in their midst. Each interruption is over before the next is asked for, so
// the program goes on however slow the machine is.
void interrupt_allocations(void (*handler)(int)) {
  CHECK(signal(SIGALRM, handler) != SIG_ERR);
  for (int i = 0; i < 100; ++i) {
    const itimerval once{{0, 0}, {0, 300 + i}};
    CHECK(setitimer(ITIMER_REAL, &once, nullptr) == 0);
    for (int j = 0; j < 200; ++j) drop_buffer(make_buffer(kBytes));
  }
}

void fork_and_wait(int) {
  const pid_t child = fork();
  if (child == 0) {
    drop_buffer(make_buffer(kBytes));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) _exit(3);
}

void exit_with_7(int) {
  exit(7);
}

// Two threads write to one guard page at once; both writes have to be there afterwards.
void write_together() {
  for (int i = 0; i < 60; ++i) {
    char* const block = make_buffer(kBytes);
    std::atomic<int> ready{0};
    const auto write = [&](std::size_t at) {
      ++ready;
      while (ready != 2) {
      }
      write_at(block + kBytes + at);
    };
    std::thread other(write, 1);
    write(0);
    other.join();
    CHECK(block[kBytes] == 1 && block[kBytes + 1] == 1);
  }
}

// Writes where the next blocks will be, as far as it gets.
void write_far() {
  char* const last = make_buffer(kBytes);
  for (std::size_t page = 16; page < 20; ++page) write_at(last + page * 4096);
  for (int i = 0; i < 20; ++i) {
    char* const zero = opaque(static_cast<char*>(calloc(2, kBytes)));
    CHECK(std::all_of(zero, zero + 2 * kBytes, [](char c) { return c == 0; }));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string deed = argc > 1 ? argv[1] : "";
  char* const at = make_buffer(kBytes);
  if (deed == "use") use();
  if (deed == "write_after") write_at(at + kBytes);
  if (deed == "several") {
    char* const other = make_buffer(kBytes);
    write_at(at + kBytes);
    write_at(at + kBytes + 1);
    CHECK(read_at(other + kBytes) != 2);
    CHECK(read_at(at - 200) != 2);  // in the page before that of the block
    drop_buffer(other);
    CHECK(read_at(other + 10) != 2);
    return 6;
  }
  if (deed == "protected") {
    char* const whole = static_cast<char*>(aligned_alloc(4096, 4096));
    *whole = 5;
    CHECK(mprotect(whole, 4096, PROT_NONE) == 0);
    return read_at(whole);
  }
  if (deed == "together") write_together();
  if (deed == "far") write_far();
  if (deed == "jump") {
    alarm(20);
    reinterpret_cast<void (*)()>(opaque(at + kBytes + 100))();
  }
  if (deed == "protected_later") {
    alarm(20);
    char* const page = at + kBytes;  // the block ends with a page
    write_at(page);
    CHECK(mprotect(page, 4096, PROT_NONE) == 0);
    return read_at(page);
  }
  if (deed == "read_after") return read_at(at + kBytes + 7);
  if (deed == "read_before") return read_at(at - 1);
  if (deed == "after_free") {
    drop_buffer(at);
    return read_at(at + 10);
  }
  if (deed == "slack") {
    char* const odd = make_buffer(kBytes + 1);
    write_at(odd + kBytes + 3);
    drop_buffer(odd);
  }
  if (deed == "slack_live") write_at(make_buffer(kBytes + 1) + kBytes + 3);
  if (deed == "double_free") {
    drop_buffer(at);
    drop_buffer(at);
    return 5;
  }
  if (deed == "inner_free") drop_buffer(at + 16);
  if (deed == "null") return read_at(nullptr);
  if (deed == "signal_handler") {
    CHECK(signal(SIGSEGV, leave_with_9) == SIG_DFL);
    write_at(at + kBytes);
  }
  if (deed == "action") return with_handler(at);
  if (deed == "sent") raise(SIGSEGV);
  if (deed == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      write_at(at + kBytes);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 6 : 0;
  }
  if (deed == "vfork") {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (deed == "exec") {
    execl(argv[0], argv[0], "write_after", nullptr);
    return 8;
  }
  if (deed == "fork_in_handler") interrupt_allocations(fork_and_wait);
  if (deed == "exit_in_handler") {
    interrupt_allocations(exit_with_7);
    return 8;
  }
  if (deed == "alignment") {
    // Less than malloc() promises may be asked for.
    void* one = nullptr;
    CHECK(posix_memalign(&one, 8, 1032) == 0 && reinterpret_cast<std::uintptr_t>(one) % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(opaque(memalign(1, 1501))) % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(opaque(aligned_alloc(8, 1032))) % 16 == 0);
  }
  if (deed == "grown") {
    char* const small = make_buffer(16);
    std::memset(small, 5, 16);
    char* const grown = opaque(static_cast<char*>(realloc(small, kBytes)));
    CHECK(std::all_of(grown, grown + 16, [](char c) { return c == 5; }));
    write_at(grown + kBytes);
  }
  if (deed == "ignored") {
    CHECK(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
    raise(SIGSEGV);
    return 9;
  }
  if (deed == "sysv_handler") {
    CHECK(__sysv_signal(SIGSEGV, leave_with_9) == SIG_DFL);
    write_at(at + kBytes);
  }
  if (deed == "many") {
    // More blocks than the system allows mappings for.
    std::vector<char*> all;
    all.reserve(40000);
    for (int i = 0; i < 40000; ++i) all.push_back(make_buffer(1024));
    for (char* const one : all) CHECK(one != nullptr);
    for (char* const one : all) drop_buffer(one);
  }
  return 0;
}
