#include "memory_preload/client.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone::memory_preload {
namespace {

template <class Function>
bool look_up(Function& out, const char* name) {
  out = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return out != nullptr;
}

// Prefix of a block's name, before its number.
std::string_view prefix_of(std::int32_t maker) {
  return maker == RZ_MEMORY_OF_NUMPY ? "numpy#" : "torch#";
}

// A global, because a signal handler gets no argument for it.
decltype(&rz_memory_find) find_block = nullptr;

// Formats without the C library, as is required in signal handlers.
bool find_named(const void* at, device::OtherBlock& out) {
  rz_memory_block block;
  if (find_block(at, &block) != 1) return false;
  const std::string_view prefix = prefix_of(block.maker);
  char* end = std::copy(prefix.begin(), prefix.end(), out.name);
  end = std::to_chars(end, std::end(out.name), block.number).ptr;
  std::strcpy(end, block.freed != 0 ? " (freed)" : "");
  out.begin = static_cast<const std::byte*>(block.begin);
  out.end = out.begin + block.bytes;
  return true;
}

}  // namespace

std::optional<Client> Client::find() {
  decltype(&rz_memory_abi) abi = nullptr;
  Functions f{};
  const bool found =
      look_up(abi, "rz_memory_abi") && abi() == RZ_MEMORY_ABI && look_up(f.arm, "rz_memory_arm") &&
      look_up(f.begin_trial, "rz_memory_begin_trial") &&
      look_up(f.begin_call, "rz_memory_begin_call") && look_up(f.end_call, "rz_memory_end_call") &&
      look_up(f.end_trial, "rz_memory_end_trial") && look_up(f.count, "rz_memory_count") &&
      look_up(f.next_damaged, "rz_memory_next_damaged") && look_up(find_block, "rz_memory_find");
  if (!found) return std::nullopt;
  return Client(f);
}

void Client::begin_trial(const TrialSpec& trial) {
  rz_memory_trial settings = {};
  settings.allocator = static_cast<std::int32_t>(trial.mode.allocator);
  settings.placement = static_cast<std::int32_t>(trial.mode.placement);
  settings.poison = trial.mode.poison;
  settings.wide_canaries = trial.wide_canaries ? 1 : 0;
  RZ_CHECK(functions_.begin_trial(&settings) == 0);
}

EndedTrial Client::end_trial() {
  EndedTrial out;
  rz_memory_damaged block;
  while (functions_.next_damaged(&block) == 1) {
    BufferObservation& b = out.damaged.emplace_back(EndedTrial::Damaged{block.call, {}}).block;
    b.name = std::string(prefix_of(block.maker)) + std::to_string(block.number);
    b.role = Role::out;
    b.scratch = b.surrounded = true;
    b.numel = block.bytes;
    b.dirty_before = block.dirty_before;
    b.dirty_after = block.dirty_after;
    b.first_dirty_byte = block.first_dirty_byte;
  }
  rz_memory_counts c;
  functions_.count(&c);
  functions_.end_trial();
  out.counts = {.blocks = c.blocks,
                .bytes = c.bytes,
                .left_out_blocks = c.left_out_blocks,
                .left_out_bytes = c.left_out_bytes,
                .other_blocks = c.other_blocks,
                .other_bytes = c.other_bytes,
                .unpoisoned_blocks = c.unpoisoned_blocks};
  return out;
}

device::FindOtherBlock Client::finder() {
  return find_named;
}

}  // namespace redzone::memory_preload
