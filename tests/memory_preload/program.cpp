// A program with the library preloaded that does what its argument names. Its own libc10.so
// allocates as PyTorch's does.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "memory_preload/client.h"
#include "memory_preload/memory_abi.h"

#define CHECK(condition)                                \
  do {                                                  \
    if (!(condition)) {                                 \
      std::fprintf(stderr, "not so: %s\n", #condition); \
      _exit(3);                                         \
    }                                                   \
  } while (false)

namespace {

using Allocate = void* (*)(std::size_t);

// The compiler knows free(), and what must not be done after it.
template <class T>
T opaque(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

template <class Function>
Function preloaded(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}
#define PRELOADED(name) preloaded<decltype(&(name))>(#name)

Allocate load_c10() {
  void* const library = dlopen(C10_LIBRARY, RTLD_NOW);
  CHECK(library != nullptr);
  return reinterpret_cast<Allocate>(dlsym(library, "c10_allocate"));
}

rz_memory_counts count() {
  rz_memory_counts out;
  PRELOADED(rz_memory_count)(&out);
  return out;
}

void begin(int allocator) {
  const rz_memory_trial trial = {allocator, RZ_MEMORY_GUARD_AFTER, 0xabababab, 0, 0, 0, 0};
  CHECK(PRELOADED(rz_memory_begin_trial)(&trial) == 0);
  PRELOADED(rz_memory_begin_call)(3);
}

bool is_ours(const void* at) {
  rz_memory_block block;
  return PRELOADED(rz_memory_find)(at, &block) == 1;
}

// Of 64 bytes, armed, in a call.
Allocate armed(int allocator = RZ_MEMORY_GUARD) {
  const Allocate allocate = load_c10();
  CHECK(PRELOADED(rz_memory_arm)() == 1);
  begin(allocator);
  return allocate;
}

void without_the_library() {
  CHECK(PRELOADED(rz_memory_abi) == nullptr);
  void* const block = load_c10()(100);
  CHECK(block != nullptr);
  std::free(block);
}

void not_armed() {
  CHECK(PRELOADED(rz_memory_abi)() == RZ_MEMORY_ABI);
  const Allocate allocate = load_c10();
  const rz_memory_trial trial = {};
  CHECK(PRELOADED(rz_memory_begin_trial)(&trial) == -1);
  PRELOADED(rz_memory_begin_call)(0);
  void* const block = allocate(100);
  CHECK(block != nullptr && !is_ours(block) && malloc_usable_size(block) >= 100);
  std::free(block);
  PRELOADED(rz_memory_end_call)();
  PRELOADED(rz_memory_end_trial)();
  CHECK(count().blocks == 0 && count().other_blocks == 0);
}

void kinds() {
  const Allocate allocate = load_c10();
  CHECK(PRELOADED(rz_memory_arm)() == 1);
  void* const before = allocate(64);
  CHECK(!is_ours(before));
  for (const int allocator :
       {RZ_MEMORY_GUARD, RZ_MEMORY_PLAIN, RZ_MEMORY_POOL, RZ_MEMORY_CACHING}) {
    begin(allocator);
    auto* const block = static_cast<unsigned char*>(allocate(100));
    const bool ours = allocator != RZ_MEMORY_PLAIN;
    CHECK(is_ours(block) == ours);
    if (ours) CHECK(block[0] == 0xab && block[99] == 0xab);
    void* other = nullptr;
    CHECK(posix_memalign(&other, 64, 200) == 0 && !is_ours(other));
    const rz_memory_counts counts = count();
    CHECK(counts.blocks == (ours ? 1u : 0u) && counts.plain_blocks == (ours ? 0u : 1u));
    CHECK(counts.other_blocks == 1 && counts.other_bytes == 200);
    std::free(opaque(block));
    std::free(other);
    PRELOADED(rz_memory_end_call)();
    void* const outside = allocate(100);
    CHECK(!is_ours(outside));
    std::free(outside);
    PRELOADED(rz_memory_end_trial)();
  }
  std::free(before);
  rz_memory_trial wrong = {RZ_MEMORY_CACHING + 1, 0, 0, 0, 0, 0, 0};
  CHECK(PRELOADED(rz_memory_begin_trial)(&wrong) == -1);
  wrong = {0, 2, 0, 0, 0, 0, 0};
  CHECK(PRELOADED(rz_memory_begin_trial)(&wrong) == -1);
  wrong = {0, 0, 0, 48, 0, 0, 0};
  CHECK(PRELOADED(rz_memory_begin_trial)(&wrong) == -1);
}

// PyTorch is imported after the process has armed the library.
void late() {
  CHECK(PRELOADED(rz_memory_arm)() == 0);
  begin(RZ_MEMORY_GUARD);
  PRELOADED(rz_memory_end_trial)();
  const Allocate allocate = load_c10();
  begin(RZ_MEMORY_GUARD);
  CHECK(is_ours(allocate(64)));
}

void other_functions() {
  const Allocate allocate = armed();
  auto* block = static_cast<char*>(allocate(100));
  std::memset(block, 7, 100);
  CHECK(malloc_usable_size(block) == 100);
  block = static_cast<char*>(realloc(opaque(block), 200));
  CHECK(block != nullptr && !is_ours(block) && block[99] == 7);
  std::free(block);
  block = static_cast<char*>(reallocarray(allocate(100), 5, 10));
  CHECK(block != nullptr && !is_ours(block));
  std::free(block);
  CHECK(reallocarray(allocate(100), opaque(SIZE_MAX), 2) == nullptr);
  CHECK(realloc(allocate(100), 0) == nullptr);
  std::free(nullptr);
  CHECK(count().blocks == 4);
}

void find() {
  const Allocate allocate = armed();
  (void)allocate(10);
  auto* const block = static_cast<char*>(allocate(128));
  rz_memory_block found;
  CHECK(PRELOADED(rz_memory_find)(block + 130, &found) == 1);
  CHECK(found.call == 3 && found.number == 2 && found.begin == block && found.bytes == 128);
  CHECK(found.freed == 0);
  std::free(opaque(block));
  CHECK(PRELOADED(rz_memory_find)(block + 1, &found) == 1 && found.freed == 1);
  auto* const edge = static_cast<char*>(allocate(60));
  edge[62] ^= 1;
  rz_memory_damaged damaged;
  CHECK(PRELOADED(rz_memory_next_damaged)(&damaged) == 1);
  CHECK(damaged.call == 3 && damaged.number == 3 && damaged.first_dirty_byte == 62);
  CHECK(PRELOADED(rz_memory_next_damaged)(&damaged) == 0);
}

// As a worker uses it.
void client() {
  using namespace redzone;
  const Allocate allocate = load_c10();
  auto memory = memory_preload::Client::find();
  CHECK(memory && memory->arm());
  TrialSpec trial;
  trial.mode.poison = 0xabababab;
  memory->begin_trial(trial);
  memory->begin_call(0);
  auto* const block = static_cast<unsigned char*>(allocate(60));
  CHECK(block[59] == 0xab);
  memory->end_call();
  memory->begin_call(1);
  auto* const freed = static_cast<const std::byte*>(allocate(128));
  std::free(opaque(const_cast<std::byte*>(freed)));
  block[60] ^= 1;
  memory->end_call();
  device::OtherBlock found;
  CHECK(memory->finder()(freed + 200, found) && std::string(found.name) == "torch#1 (freed)");
  CHECK(found.begin == freed && found.end == freed + 128);
  CHECK(memory->finder()(block, found) && std::string(found.name) == "torch#1");
  CHECK(!memory->finder()(&found, found));
  const auto ended = memory->end_trial();
  CHECK(ended.counts.blocks == 2 && ended.counts.bytes == 188);
  CHECK(ended.counts.left_out_blocks == 0 && ended.damaged.size() == 1);
  const BufferObservation& seen = ended.damaged[0].block;
  CHECK(ended.damaged[0].call == 0 && seen.name == "torch#1" && seen.dirty_after == 1);
  CHECK(seen.scratch && seen.surrounded && seen.first_dirty_byte == 60);
  trial.wide_canaries = true;
  memory->begin_trial(trial);
  memory->begin_call(0);
  auto* const wide = static_cast<unsigned char*>(allocate(64));
  wide[64 + 5000] ^= 1;
  wide[-5000] ^= 1;
  const auto both = memory->end_trial().damaged;
  CHECK(both.size() == 1 && both[0].block.dirty_after == 1 && both[0].block.dirty_before == 1);
  memory->begin_trial(trial);
  wide[64] ^= 1;
  CHECK(memory->end_trial().damaged.empty());  // it was told once
  trial.mode.allocator = Allocator::plain;
  memory->begin_trial(trial);
  memory->begin_call(0);
  std::free(allocate(64));
  const auto plain = memory->end_trial();
  CHECK(plain.damaged.empty() && plain.counts == OwnMemory{});
}

void without_a_library_there_is_no_client() {
  CHECK(!redzone::memory_preload::Client::find());
}

void past_the_end() {
  static_cast<volatile char*>(armed()(64))[64] = 1;
}

void after_free() {
  auto* const block = static_cast<volatile char*>(armed()(64));
  std::free(opaque(const_cast<char*>(block)));
  (void)opaque(block[0]);
}

void free_twice() {
  void* const block = armed()(64);
  std::free(opaque(block));
  std::free(opaque(block));
}

void free_inside() {
  std::free(opaque(static_cast<char*>(armed()(640)) + 64));
}

void threads() {
  for (const int allocator : {RZ_MEMORY_GUARD, RZ_MEMORY_CACHING}) {
    const Allocate allocate = armed(allocator);
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([=] {
        std::vector<unsigned char*> held;
        for (int i = 0; i < 2000; ++i) {
          auto* const at =
              static_cast<unsigned char*>(allocate(static_cast<std::size_t>(i % 300 + 1)));
          CHECK(is_ours(at));
          at[0] = static_cast<unsigned char>(t);
          held.push_back(at);
          if (held.size() < 8) continue;
          for (auto* const block : held) {
            CHECK(block[0] == static_cast<unsigned char>(t));
            std::free(block);
          }
          held.clear();
        }
      });
    for (auto& thread : all) thread.join();
    CHECK(count().blocks == 8000);
    PRELOADED(rz_memory_end_trial)();
  }
}

// Children of a process whose other threads allocate go on allocating, and leave the parent's
// blocks alone.
void forks() {
  const Allocate allocate = armed();
  auto* const block = static_cast<unsigned char*>(allocate(100));
  block[0] = 1;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) std::free(allocate(100));
  });
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      CHECK(block[0] == 1 && is_ours(block));
      block[0] = 2;
      auto* const own = static_cast<unsigned char*>(allocate(100));
      CHECK(is_ours(own) && own[0] == 0xab);
      std::free(own);
      std::free(block);
      PRELOADED(rz_memory_end_trial)();
      begin(RZ_MEMORY_CACHING);
      CHECK(is_ours(allocate(100)));
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(block[0] == 1);
  }
  stop = true;
  other.join();
  std::free(block);
}

struct Deed {
  const char* name;
  void (*run)();
};
constexpr Deed kDeeds[] = {{"without_the_library", without_the_library},
                           {"not_armed", not_armed},
                           {"kinds", kinds},
                           {"late", late},
                           {"other_functions", other_functions},
                           {"find", find},
                           {"client", client},
                           {"no_client", without_a_library_there_is_no_client},
                           {"past_the_end", past_the_end},
                           {"after_free", after_free},
                           {"free_twice", free_twice},
                           {"free_inside", free_inside},
                           {"threads", threads},
                           {"forks", forks}};

}  // namespace

int main(int argc, char** argv) {
  for (const Deed& deed : kDeeds)
    if (argc > 1 && std::string(argv[1]) == deed.name) {
      deed.run();
      return 0;
    }
  return 2;
}
