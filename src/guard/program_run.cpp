#include "guard/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "guard/names.h"
#include "guard/stacks.h"

namespace redzone::guard {
namespace {

// "after a block", "of a freed block", "of a live block": of an error of the device.
std::string side_text(const Finding& finding) {
  if (finding.side != Side::inside) return fmt::format("{} a block", name_of(finding.side));
  return finding.block.freed ? "of a freed block" : "of a live block";
}

std::string site(const Frame& frame) {
  const std::string module = std::filesystem::path(frame.module).filename().string();
  if (!frame.function.empty()) return fmt::format("{} ({})", frame.function, module);
  if (!module.empty()) return fmt::format("{}+{:#x}", module, frame.offset);
  return "code without a file";
}

}  // namespace

Judged judged(const ProcessRecord& process, const interpose::Settings& settings) {
  const bool driver =
      settings.driver && (process.is(Fact::driver_present) || process.is(Fact::driver_seen));
  if (settings.cpu && !process.is(Fact::cpu_proven)) return Judged::not_proven;
  if (driver && process.is(Fact::driver_unproven)) return Judged::not_proven;
  if (driver && !process.is(Fact::driver_proven)) {
    // Only the driver had no allocation; the CPU's were guarded.
    return settings.cpu && !process.is(Fact::driver_seen) ? Judged::yes : Judged::no_allocation;
  }
  return driver || settings.cpu ? Judged::yes : Judged::nothing_to_guard;
}

std::string allocation_site(const Finding& finding) {
  if (const PythonFrame* const line = caller(finding.python_allocated))
    return fmt::format("{} ({})", line->function,
                       std::filesystem::path(line->file).filename().string());
  const Frame* const frame = caller(finding.allocated);
  return frame == nullptr ? std::string() : site(*frame);
}

std::string signature(const Finding& finding) {
  std::string out = fmt::format("{}: ", name_of(finding.kind));
  switch (finding.kind) {
    case FindingKind::device_error:
      if (finding.kernel.empty())
        return out + fmt::format("error {} from {}", finding.code, finding.call);
      out += fmt::format("error {} in {}", finding.code, finding.kernel);
      if (finding.block.ordinal == 0) return out;
      out += fmt::format(": {} {}", name_of(finding.access), side_text(finding));
      break;
    case FindingKind::bad_free:
      out += fmt::format("{} of {}", finding.call,
                         finding.block.ordinal == 0 ? "an address of no block"
                         : finding.block.freed      ? "a freed block"
                                                    : "an address inside a block");
      break;
    case FindingKind::after_free:
      out += fmt::format("{} of a freed block{}{}", name_of(finding.access),
                         finding.call.empty() ? "" : " by ", finding.call);
      break;
    case FindingKind::range:
      out += fmt::format("{} of {} {} a block", name_of(finding.access), finding.call,
                         name_of(finding.side));
      break;
    case FindingKind::guard_page:
    case FindingKind::canary:
      out += fmt::format("{} {} a block", name_of(finding.access), name_of(finding.side));
      break;
  }
  const std::string allocated = allocation_site(finding);
  return allocated.empty() ? out : fmt::format("{} allocated in {}", out, allocated);
}

std::string key_of(const ProcessRecord& process, const Finding& finding) {
  return fmt::format("{}: {}", target_of_program(process.command()), signature(finding));
}

std::vector<DistinctFinding> ProgramRun::findings() const {
  std::vector<DistinctFinding> out;
  std::map<std::string, std::size_t> known;
  for (const auto& process : processes)
    for (const auto& finding : process.findings) {
      const auto [at, is_new] = known.emplace(key_of(process, finding), out.size());
      if (is_new)
        out.push_back({finding, process.pid, 0,
                       static_cast<std::size_t>(&process - processes.data()), at->first});
      ++out[at->second].times;
    }
  return out;
}

std::uint64_t ProgramRun::count(Counter counter) const {
  std::uint64_t out = 0;
  for (const auto& process : processes) out += process.count(counter);
  return out;
}

std::size_t ProgramRun::count(Judged state) const {
  return static_cast<std::size_t>(
      std::count_if(processes.begin(), processes.end(),
                    [&](const auto& p) { return judged(p, settings) == state; }));
}

std::size_t ProgramRun::to_guard() const {
  return processes.size() - count(Judged::nothing_to_guard);
}

std::size_t ProgramRun::not_judged() const {
  return to_guard() - count(Judged::yes);
}

bool ProgramRun::guards_nothing() const {
  const bool leaves_out = !settings.only.is_empty() || !settings.skip.is_empty() ||
                          settings.min_bytes > interpose::Settings{}.min_bytes;
  return leaves_out && count(Counter::host_blocks) + count(Counter::device_blocks) == 0;
}

bool ProgramRun::is_judged() const {
  return count(Judged::yes) != 0 && !guards_nothing();
}

int ProgramRun::exit_code(int finding_code, const std::set<std::string>& suppressed) const {
  for (const auto& process : processes)
    for (const auto& finding : process.findings)
      if (!suppressed.contains(key_of(process, finding))) return finding_code;
  return is_judged() ? ended.exit_code : kCannotGuard;
}

}  // namespace redzone::guard
