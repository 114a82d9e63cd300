// What a guarded process is asked to do. The command writes it into one environment variable, or
// into a file of the folder for reports; the preloaded library reads it before main(), so nothing
// here allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::interpose {

// The folder for reports, which exists, and the settings as text (format_settings()). Without the
// second variable they are in a file of the folder, so that a process is attached by LD_PRELOAD and
// the folder alone.
inline constexpr const char* kFolderVariable = "REDZONE_GUARD_FOLDER";
inline constexpr const char* kSettingsVariable = "REDZONE_GUARD_SETTINGS";
inline constexpr const char* kSettingsFile = "settings";

enum class Placement : std::uint8_t { guard_after, guard_before };
// all: freed memory is unmapped, and its addresses are never used again. sample: this happens to
// every kRetireEvery-th of the first freed blocks, and later on to fewer, since unmapping a block
// and mapping another takes about 200 us; the others keep their memory, poisoned, for the next
// block.
enum class Retire : std::uint8_t { sample, all };
inline constexpr std::uint64_t kRetireEvery = 8, kRetireFirst = 1024, kRetireEveryLater = 64;
// blocking: each launch is waited for. held: streams are stopped for a while, see stream_holds.h.
enum class LaunchMode : std::uint8_t { async, blocking, held };
// When canaries of live blocks are compared: at their free, or after each launch as well, which
// waits for it.
enum class Check : std::uint8_t { at_free, each_launch };
// stop: an access of the CPU that hits a guard page ends the program, as without the guard. go_on:
// it is reported, and memory takes the place of the guard page.
enum class OnError : std::uint8_t { stop, go_on };

// Blocks by their numbers in their process, both ends included; {0, 0}: none.
struct BlockRange {
  std::uint64_t first = 0, last = 0;

  bool is_empty() const { return last == 0; }
  bool holds(std::uint64_t block) const { return block != 0 && first <= block && block <= last; }
  bool operator==(const BlockRange&) const = default;
};

inline constexpr std::size_t kPatternBytes = 128;
inline constexpr int kTorchHook = 1, kCupyHook = 2;

struct Settings {
  bool driver = true;  // guard allocations of the CUDA driver
  bool cpu = false;    // guard malloc() and its relatives
  Placement placement = Placement::guard_after;
  Retire retire = Retire::sample;
  int poison = 0xff;  // byte that fills new and freed memory; -1: none
  // Alignment of blocks that ask for none; a power of two. 0: what the allocator promises.
  std::uint64_t align_bytes = 0;
  // Device memory for blocks of their own slot, per device. 0: half of what the device has.
  std::uint64_t max_memory_bytes = 0;
  // Smaller blocks of malloc() are left alone.
  std::uint64_t min_bytes = 1024;
  LaunchMode launch = LaunchMode::async;
  Check check = Check::at_free;
  OnError on_error = OnError::stop;
  bool python = true;  // stacks of the Python interpreter
  // Guard pages alone, for blocks of a device: no canaries, and nothing that is freed is unmapped.
  bool bare = false;
  // What of Python runs when the program imports a framework: the sum of kTorchHook and kCupyHook.
  int hooks = 0;
  std::uint64_t seed = 1;  // of what `held` stops
  // Only these blocks are guarded, if there are any, and of them not those to skip. A block has its
  // number either way.
  BlockRange only, skip;
  // The kernels whose launches are waited for, checked after and held, by a regular expression
  // (kernel_filter.h), with a final zero; "": all.
  char kernels[kPatternBytes] = {};

  bool guards(std::uint64_t block) const {
    return (only.is_empty() || only.holds(block)) && !skip.holds(block);
  }
  bool operator==(const Settings&) const = default;
};

inline constexpr std::uint64_t kMostAlignBytes = 4096;
inline constexpr std::uint64_t kDeviceAlignBytes = 256;  // cuMemAlloc's promise
inline constexpr std::uint64_t kHostAlignBytes = 16;     // malloc's promise on 64-bit Linux

inline constexpr std::size_t kSettingsTextBytes = 1024;

// Writes `settings` as "driver=1,cpu=0,...", with a final zero. The pattern is in hexadecimal
// digits, as it may have any character.
void format_settings(const Settings& settings, char (&text)[kSettingsTextBytes]);

// Reads what format_settings() writes; keys that are left out keep their default. False if a key is
// unknown or a value is out of range; `settings` is then unchanged.
bool parse_settings(const char* text, Settings& settings);

}  // namespace redzone::interpose
