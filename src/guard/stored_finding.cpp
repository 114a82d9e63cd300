#include "guard/stored_finding.h"

#include <fmt/format.h>

#include "core/byte_count.h"
#include "guard/names.h"
#include "guard/program_files.h"
#include "guard/stacks.h"

namespace redzone::guard {
namespace {

FailKind kind_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::guard_page:
    case FindingKind::range:
      return FailKind::illegal_access;
    case FindingKind::after_free:
      return FailKind::use_after_free;
    case FindingKind::canary:
      return FailKind::redzone;
    case FindingKind::bad_free:
    case FindingKind::device_error:
      break;
  }
  return FailKind::fault;
}

// How the finding's process was started; at least the path of its program.
Started process_of(const ProgramRun& run, const DistinctFinding& distinct) {
  const ProcessRecord& process = run.processes[distinct.process];
  Started out = process.started;
  out.argv = process.command();
  return out;
}

std::vector<std::string> texts_of(const std::vector<Frame>& stack) {
  std::vector<std::string> out;
  for (const Frame& frame : shown(stack)) out.push_back(text_of(frame));
  return out;
}

std::string detail_of(const Finding& f) {
  if (f.kind == FindingKind::device_error) return fmt::format("{} returned {}", f.call, f.code);
  if (f.block.ordinal == 0) return fmt::format("address {:#x}; no block is known there", f.address);
  std::string out = fmt::format("block {} of {}, {}", f.block.ordinal, byte_count(f.block.bytes),
                                f.block.freed ? "freed" : "live");
  if (f.side != Side::inside && f.side != Side::none)
    out += fmt::format("; {} {} it", byte_count(f.distance_bytes), name_of(f.side));
  return out;
}

// Settings under which another run gives the same signature: a kernel name from a second run
// (narrow.h) is known only if each launch is waited for.
interpose::Settings settings_to_show(const ProgramRun& run, const Finding& finding) {
  interpose::Settings out = run.settings;
  if (!finding.kernel.empty() && finding.only_kernel.empty())
    out.launch = interpose::LaunchMode::blocking;
  return out;
}

}  // namespace

Signature stored_signature(const ProgramRun& run, const DistinctFinding& distinct) {
  Signature out;
  out.kind = kind_of(distinct.first.kind);
  out.target = target_of_program(process_of(run, distinct).argv);
  out.where = signature(distinct.first);
  return out;
}

redzone::Finding stored_finding(const ProgramRun& run, const DistinctFinding& distinct) {
  const Finding& seen = distinct.first;
  redzone::Finding out;
  out.signature = stored_signature(run, distinct);
  out.oracle = kOracle;
  out.reason = out.signature.where;
  out.plan = out.original = plan_without_calls(out.signature.target);
  out.fault_detail = detail_of(seen);
  const Started started = run.started.argv.empty() ? process_of(run, distinct) : run.started;
  char settings[interpose::kSettingsTextBytes];
  interpose::format_settings(settings_to_show(run, seen), settings);
  out.program = ProgramOrigin{
      .argv = started.argv,
      .folder = started.folder,
      .environment = started.environment,
      .settings = settings,
      .block = seen.block.ordinal,
      .block_bytes = seen.block.bytes,
      .site = allocation_site(seen),
      .where = texts_of(seen.where),
      .allocated = texts_of(seen.allocated),
      .freed = texts_of(seen.freed),
      .unset = started.unset,
      .exit_code = run.ended.exit_code,
      .files = files_of(process_of(run, distinct), run.processes[distinct.process].program)};
  return out;
}

Result<interpose::Settings> settings_of(const ProgramOrigin& origin) {
  interpose::Settings out;
  if (!interpose::parse_settings(origin.settings.c_str(), out))
    return harness_error(
        fmt::format("the settings '{}' are not those of this build's guard", origin.settings));
  return out;
}

Started started_of(const ProgramOrigin& origin) {
  return {origin.argv, origin.folder, origin.environment, origin.unset};
}

}  // namespace redzone::guard
