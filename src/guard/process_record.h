// What one guarded process has left in its folder, read back and checked: the process may have been
// killed at any moment, and its memory may be damaged.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "guard/started.h"
#include "guard/symbols.h"
#include "interpose/record.h"

namespace redzone::guard {

using interpose::Access;
using interpose::Counter;
using interpose::Fact;
using interpose::FindingKind;
using interpose::Side;

struct Block {
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t ordinal = 0;  // 1 for the first of the process
  bool freed = false;
};

struct Finding {
  FindingKind kind = FindingKind::guard_page;
  Access access = Access::unknown;
  Side side = Side::none;
  bool on_device = false;
  int code = 0;  // the driver's, or the number of the signal
  std::uint64_t address = 0, distance_bytes = 0, wrong_bytes = 0;
  Block block;       // ordinal 0: no block is known
  std::string call;  // "" if no function reported it
  std::uint32_t thread = 0;
  std::vector<Frame> where, allocated, freed;  // innermost first
};

struct ProcessRecord {
  std::uint32_t pid = 0, parent = 0;
  std::string program;
  std::array<bool, interpose::kFacts> facts{};
  std::array<std::uint64_t, interpose::kCounters> counters{};
  std::vector<Finding> findings;
  Started started;  // by its own account

  // As it was started; its file alone if that is not known.
  std::vector<std::string> command() const {
    return started.argv.empty() ? std::vector<std::string>{program} : started.argv;
  }
  bool is(Fact fact) const { return facts[static_cast<std::size_t>(fact)]; }
  std::uint64_t count(Counter counter) const { return counters[static_cast<std::size_t>(counter)]; }
};

// One record, by the bytes of its file and the mappings of its process; an error if it is none of
// this build. Findings that are not complete, or whose values make no sense, are left out.
Result<ProcessRecord> parse_process_record(std::string_view bytes, std::string_view mappings);
Result<ProcessRecord> read_process_record(const std::filesystem::path& file);

// All records of a folder, in the order of their names. Those that cannot be read are left out, and
// counted in `unreadable`.
std::vector<ProcessRecord> read_process_records(const std::filesystem::path& folder,
                                                std::size_t& unreadable);

}  // namespace redzone::guard
