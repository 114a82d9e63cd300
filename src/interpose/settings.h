// Settings of a guarded process. The command writes them into an environment variable, or into a
// file of the report folder; the preloaded library reads them before main(), so nothing here
// allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::interpose {

// The report folder, which must exist, and the settings as text (format_settings()). If the second
// variable is unset, the settings are read from a file of the folder, so that LD_PRELOAD and the
// folder suffice to guard a process.
inline constexpr const char* kFolderVariable = "REDZONE_GUARD_FOLDER";
inline constexpr const char* kSettingsVariable = "REDZONE_GUARD_SETTINGS";
inline constexpr const char* kSettingsFile = "settings";

enum class Placement : std::uint8_t { guard_after, guard_before };
// all: freed memory is unmapped, and its addresses are never reused. sample: this happens to every
// kRetireEvery-th of the first freed blocks, and later to fewer, because unmapping a block and
// mapping another takes about 200 us; the other blocks keep their memory, poisoned, for reuse.
enum class Retire : std::uint8_t { sample, all };
inline constexpr std::uint64_t kRetireEvery = 8, kRetireFirst = 1024, kRetireEveryLater = 64;
// blocking: waits for each launch. held: delays streams, see stream_holds.h.
enum class LaunchMode : std::uint8_t { async, blocking, held };
// When the canaries of live blocks are compared: at their free only, or also after each launch,
// which then waits for the launch.
enum class Check : std::uint8_t { at_free, each_launch };
// stop: a CPU access that hits a guard page ends the program, as without the guard. go_on: after
// the report, memory replaces the guard page and the program continues.
enum class OnError : std::uint8_t { stop, go_on };

// Range of block numbers in a process, both ends included; {0, 0}: empty.
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
  bool cpu = false;    // guard malloc() and related functions
  Placement placement = Placement::guard_after;
  Retire retire = Retire::sample;
  int poison = 0xff;  // byte that fills new and freed memory; -1: none
  // Alignment of blocks for which the program requests none; a power of two. 0: the allocator's
  // default.
  std::uint64_t align_bytes = 0;
  // Limit per device of memory for blocks with their own slot. 0: half of the device's memory.
  std::uint64_t max_memory_bytes = 0;
  // Smaller blocks of malloc() are not guarded.
  std::uint64_t min_bytes = 1024;
  LaunchMode launch = LaunchMode::async;
  Check check = Check::at_free;
  OnError on_error = OnError::stop;
  bool python = true;  // record stacks of the Python interpreter
  // Guard pages only for device blocks: no canaries, and freed memory is not unmapped.
  bool bare = false;
  // Python hooks to run when the program imports a framework: sum of kTorchHook and kCupyHook.
  int hooks = 0;
  std::uint64_t seed = 1;  // selects the launches that `held` delays
  // If `only` is not empty, only its blocks are guarded; blocks in `skip` are not. Blocks are
  // numbered either way.
  BlockRange only, skip;
  // Zero-terminated regular expression (kernel_filter.h) for the kernels whose launches are waited
  // for, checked and held; "": all.
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

// Writes `settings` as "driver=1,cpu=0,...", zero-terminated. The pattern is written in hexadecimal
// digits, because it may contain any character.
void format_settings(const Settings& settings, char (&text)[kSettingsTextBytes]);

// Parses the format of format_settings(); missing keys keep their default. Returns false, and
// leaves `settings` unchanged, if a key is unknown or a value is out of range.
bool parse_settings(const char* text, Settings& settings);

}  // namespace redzone::interpose
