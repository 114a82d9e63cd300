#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "guard/names.h"
#include "guard/stacks.h"
#include "report/format.h"
#include "report/guard.h"
#include "report/guard_launches.h"

namespace redzone::report {
namespace {

using guard::Counter;
using guard::FindingKind;
using guard::Side;

std::string bytes_text(std::uint64_t n) {
  return counted(n, "byte");
}

std::string processes_number(std::uint64_t n) {
  return fmt::format("{} process{}", grouped(n), n == 1 ? "" : "es");
}

std::string frames_text(std::string_view title, const std::vector<guard::Frame>& frames) {
  std::string out;
  for (const auto& frame : guard::shown(frames))
    out += fmt::format("  {:10} {}\n", out.empty() ? title : "", printable(guard::text_of(frame)));
  return out;
}

std::string lines_text(const std::vector<guard::PythonFrame>& lines) {
  std::string out;
  for (const auto& line : lines)
    out += fmt::format("  {:10} {}:{} {}\n", out.empty() ? "  python" : "", printable(line.file),
                       line.line, printable(line.function));
  return out;
}

// "2 bytes after a live block of 4,000 bytes (block 7)"
std::string place_text(const guard::Finding& finding) {
  if (finding.block.ordinal == 0 && finding.kind == FindingKind::canary)
    return fmt::format("in memory in the place of a guard page, {} {} a block that is not known",
                       bytes_text(finding.distance_bytes), name_of(finding.side));
  if (finding.block.ordinal == 0) return "no block is known there";
  const std::string block =
      fmt::format("a {} block of {} (block {})", finding.block.freed ? "freed" : "live",
                  bytes_text(finding.block.bytes), finding.block.ordinal);
  if (finding.side == Side::inside)
    return fmt::format("{} into {}", bytes_text(finding.address - finding.block.address), block);
  return fmt::format("{} {} {}", bytes_text(finding.distance_bytes), name_of(finding.side), block);
}

// An error of the device, and the known facts about the launch that caused it.
std::string error_text(const guard::Finding& finding, const guard::ProcessRecord& process) {
  std::string out = fmt::format("  {:10} {} returned {}", "error", finding.call, finding.code);
  if (finding.kernel.empty()) {
    out += "; which kernel and which address is not known\n";
    // A later error may have been caused by launches of another context.
    const guard::Finding* const first = process.first_error();
    if (first == nullptr || guard::signature(*first) != guard::signature(finding)) return out;
    return out + unfinished_text(process.unfinished, process.unfinished_lost);
  }
  out += finding.exception.empty() ? "\n" : fmt::format(" ({})\n", printable(finding.exception));
  out += fmt::format("  {:10} {}{}{}\n", "kernel", printable(finding.kernel),
                     finding.location.empty() ? "" : " at ", printable(finding.location));
  if (!finding.instruction.empty())
    out += fmt::format("  {:10} {}\n", "access", printable(finding.instruction));
  if (finding.address != 0)
    out += fmt::format("  {:10} {:#x}: {}\n", "address", finding.address, place_text(finding));
  if (finding.launch.ordinal != 0) out += launch_text("launched", finding.launch);
  return out;
}

// The launches that may have overwritten a canary that was compared after each launch.
std::string narrowed_text(const guard::Finding& finding) {
  if (finding.launch.ordinal == 0) return "";
  const auto since = finding.launches_since_right;
  if (since == 1) return launch_text("first after", finding.launch);
  return fmt::format("  {:10} one of the last {} launches; the last of them:\n", "by",
                     grouped(since)) +
         launch_text("", finding.launch);
}

std::string guard_finding_text(std::size_t number, const guard::DistinctFinding& distinct,
                               const guard::ProgramRun& run) {
  const guard::Finding& finding = distinct.first;
  std::string out = fmt::format("finding {}: {}\n", number, printable(guard::signature(finding)));
  if (finding.kind == FindingKind::canary && finding.block.ordinal == 0)
    out += fmt::format("  {:10} {}\n", "where", place_text(finding));
  else if (finding.kind == FindingKind::device_error)
    out += error_text(finding, run.processes[distinct.process]);
  else
    out += fmt::format("  {:10} {:#x}: {}\n", "address", finding.address, place_text(finding));
  if (finding.wrong_bytes != 0)
    out += fmt::format("  {:10} {} of the canary {} wrong\n", "canary",
                       bytes_text(finding.wrong_bytes), finding.wrong_bytes == 1 ? "is" : "are");
  if (finding.kind == FindingKind::canary) out += narrowed_text(finding);
  out +=
      fmt::format("  {:10} {}, process {}\n", "seen",
                  distinct.times == 1 ? "once" : fmt::format("{} times", grouped(distinct.times)),
                  distinct.pid);
  out += frames_text("in", finding.where) + lines_text(finding.python_where);
  out += frames_text("allocated", finding.allocated) + lines_text(finding.python_allocated);
  out += frames_text("freed", finding.freed) + lines_text(finding.python_freed);
  return out;
}

std::string guarded_text(const guard::ProgramRun& run) {
  const auto& s = run.settings;
  const std::string_view side =
      s.placement == interpose::Placement::guard_after ? "after" : "before";
  std::vector<std::string> parts;
  if (s.driver) parts.emplace_back("allocations of the CUDA driver");
  if (s.cpu) parts.push_back(fmt::format("malloc() from {}", bytes_text(s.min_bytes)));
  std::string out =
      fmt::format("guarded: {}; guard pages {} each block", fmt::join(parts, ", "), side);
  if (s.align_bytes != 0)
    out += fmt::format("; blocks are aligned to {}, which is not what their allocators promise",
                       bytes_text(s.align_bytes));
  if (s.bare) out += "; guard pages alone: nothing is poisoned, and no canaries are compared";
  return out + "\n";
}

// Scripts start many processes: those with the same program and state share a row, and helpers with
// nothing to guard, such as a shell or a compiler, share one line.
std::string processes_text(const guard::ProgramRun& run) {
  struct Row {
    std::size_t processes = 0;
    std::uint64_t device = 0, host = 0, findings = 0;
  };
  std::map<std::pair<std::string, guard::Judged>, Row> rows;
  for (const auto& process : run.processes) {
    if (guard::judged(process, run.settings) == guard::Judged::nothing_to_guard) continue;
    const std::string name = std::filesystem::path(process.program).filename().string();
    Row& row = rows[{name, guard::judged(process, run.settings)}];
    ++row.processes;
    row.findings += process.times_found();
    row.device += process.count(Counter::device_blocks);
    row.host += process.count(Counter::host_blocks);
  }
  Table table({{"program"},
               {"state"},
               {"processes", Table::Align::right},
               {"device", Table::Align::right},
               {"host", Table::Align::right},
               {"findings", Table::Align::right}});
  for (const auto& [key, row] : rows)
    table.add({key.first, std::string(name_of(key.second)), grouped(row.processes),
               grouped(row.device), grouped(row.host), grouped(row.findings)});
  std::string out = table.empty() ? "" : table.text();
  if (const std::size_t helpers = run.count(guard::Judged::nothing_to_guard); helpers != 0)
    out += fmt::format("{} {}process{} had nothing to guard\n", grouped(helpers),
                       table.empty() ? "" : "other ", helpers == 1 ? "" : "es");
  return out;
}

std::string limits_text(const guard::ProgramRun& run, Notes notes) {
  std::string out;
  for (std::size_t i = 0; i < interpose::kCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const auto times = run.count(counter);
    if (guard::is_usual(counter) && notes != Notes::all) continue;
    if (times != 0 && !guard::meaning_of(counter).empty())
      out +=
          fmt::format("{}: {} {}\n", counter >= interpose::kFirstLeftOut ? "not guarded" : "note",
                      grouped(times), guard::meaning_of(counter));
  }
  if (run.to_guard() == 0 && !run.processes.empty())
    out += "note: no process has loaded the CUDA driver; --cpu guards malloc()\n";
  if (!run.foreign_preload.empty())
    out += fmt::format("note: LD_PRELOAD had {}, which is kept behind the guard\n",
                       printable(run.foreign_preload));
  if (run.guards_nothing())
    out += "note: no block was guarded: --only, --skip or --min-bytes leave none\n";
  if (run.unreadable != 0)
    out += fmt::format(
        "note: {} could not be read, for example because a limit of file size (ulimit -f) or a "
        "full disk cut it off\n",
        counted(run.unreadable, "record"));
  return out;
}

// "no finding; 1 of 3 processes to guard was not judged": processes that were not judged are stated
// with the verdict, not only in the table.
std::string verdict_of_run(const guard::ProgramRun& run, const GuardStored& stored) {
  const std::size_t findings = run.findings().size();
  std::string out = findings != 0     ? counted(findings, "finding") + suppressed_text(stored)
                    : run.is_judged() ? "no finding"
                                      : "nothing was judged";
  if (const std::size_t missing = run.not_judged(); missing != 0)
    out += fmt::format("; {} of {} to guard {} not judged", grouped(missing),
                       processes_number(run.to_guard()), missing == 1 ? "was" : "were");
  return out;
}

// How the program ended.
std::string end_text(const guard::ProgramRun& run) {
  if (run.started.argv.empty()) return processes_number(run.processes.size()) + " attached";
  if (run.ended.over_time) return "the program was ended because its time was over";
  if (run.ended.signal != 0)
    return fmt::format("the program was ended by signal {}", run.ended.signal);
  return fmt::format("the program exited with {}", run.ended.exit_code);
}

}  // namespace

std::string guard_text(const guard::ProgramRun& run, int exit_code, Notes notes,
                       const GuardStored& stored) {
  const auto findings = run.findings();
  std::string out;
  if (!run.framework.empty()) out += fmt::format("framework: {}\n", printable(run.framework));
  out += guarded_text(run);
  for (std::size_t i = 0; i < findings.size(); ++i)
    out += guard_finding_text(i + 1, findings[i], run) + "\n";
  out += processes_text(run);
  out += limits_text(run, notes);
  out += guard_stored_text(stored);
  return out + fmt::format("redzone guard: {}; {}; exit code {}\n", verdict_of_run(run, stored),
                           end_text(run), exit_code);
}

}  // namespace redzone::report
