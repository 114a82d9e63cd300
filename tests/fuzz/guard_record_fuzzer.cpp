// The record of a guarded process, which may have damaged its own memory: a sound one with
// arbitrary bytes in it, the mappings of the process, and what it was started as.
#include <algorithm>
#include <cstring>

#include "core/target_name.h"
#include "fuzz/harness.h"
#include "guard/program_run.h"
#include "guard/stored_finding.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most_mappings = 256;
  if (size < 4) return 0;
  const std::size_t at =
      static_cast<std::size_t>(data[0] | data[1] << 8 | data[3] << 16) % sizeof(interpose::Record);
  const std::size_t mappings = std::min<std::size_t>(data[2], most_mappings);
  const std::string_view rest = fuzz::text_of(data + 4, size - 4);
  std::string bytes(sizeof(interpose::Record), '\0');
  const std::uint64_t magic = interpose::kRecordMagic;
  const std::uint32_t layout = sizeof(interpose::Record);
  std::memcpy(bytes.data(), &magic, sizeof magic);
  std::memcpy(bytes.data() + sizeof magic, &layout, sizeof layout);
  const std::string_view text = rest.substr(0, mappings), over = rest.substr(text.size());
  std::memcpy(bytes.data() + at, over.data(), std::min(over.size(), bytes.size() - at));
  // No file is opened: only mappings of /proc can be named, and those have none.
  const std::string named = text.find('/') == std::string_view::npos ? std::string(text) : "";
  const auto record = guard::parse_process_record(bytes, named);
  if (!record) return 0;
  fuzz::require(record->findings.size() <= interpose::kMostFindings, "each finding has a place");
  for (const auto& finding : record->findings) {
    fuzz::require(finding.where.size() <= interpose::kFrames, "a stack has a limit");
    fuzz::require(!guard::signature(finding).empty(), "each finding has a signature");
  }
  fuzz::require(record->launches.size() <= interpose::kLaunchesKept &&
                    record->unfinished.size() <= interpose::kLaunchesKept,
                "each launch has a place");
  guard::judged(*record, {});
  guard::ProgramRun run;
  run.processes = {*record};
  run.processes[0].started = guard::parse_started(rest);
  for (const auto& distinct : run.findings()) {
    const Finding stored = guard::stored_finding(run, distinct);
    fuzz::require(is_target_name(stored.signature.target), "a program has the name of a target");
    if (!problem_of(*stored.program))
      fuzz::require(parse_origin(print_origin(*stored.program), "here") == *stored.program,
                    "what can be stored is read as it was");
  }
  return 0;
}
