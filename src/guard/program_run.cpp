#include "guard/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "guard/names.h"
#include "guard/stacks.h"

namespace redzone::guard {
namespace {

// Number of frames in a site: one function may allocate for many callers, which distinguish the
// blocks.
constexpr std::size_t kSiteFrames = 3;

std::string site(const Frame& frame) {
  const std::string module = std::filesystem::path(frame.module).filename().string();
  if (!frame.function.empty()) return fmt::format("{} ({})", frame.function, module);
  if (!module.empty()) return fmt::format("{}+{:#x}", module, frame.offset);
  return "code without a file";
}

std::string site(const PythonFrame& line) {
  return fmt::format("{} ({})", line.function,
                     std::filesystem::path(line.file).filename().string());
}

template <class F>
std::string sites(const std::vector<F>& stack, std::size_t most) {
  std::string out;
  for (const F* const frame : callers(stack, most))
    out += (out.empty() ? "" : " from ") + site(*frame);
  return out;
}

// " in fill (train)": the function that made the mistake, or the call that reported it; "" if
// unknown.
std::string mistake_site(const Finding& finding) {
  const std::string out =
      finding.python_where.empty() ? sites(finding.where, 1) : sites(finding.python_where, 1);
  return out.empty() ? out : " in " + out;
}

}  // namespace

bool torch_was_not_replaced(const ProcessRecord& process, const interpose::Settings& settings) {
  return (settings.hooks & interpose::kTorchHook) != 0 && process.is(Fact::torch_present) &&
         !process.is(Fact::torch_replaced);
}

Judged judged(const ProcessRecord& process, const interpose::Settings& settings) {
  const bool driver =
      settings.driver && (process.is(Fact::driver_present) || process.is(Fact::driver_seen));
  if (settings.cpu && !process.is(Fact::cpu_proven)) return Judged::not_proven;
  if (driver && process.is(Fact::driver_unproven)) return Judged::not_proven;
  if (driver && !process.is(Fact::driver_proven)) {
    // Only the driver had no allocation; host allocations were guarded.
    return settings.cpu && !process.is(Fact::driver_seen) ? Judged::yes : Judged::no_allocation;
  }
  // Applies only if PyTorch was the only framework to be replaced. With --framework auto, PyTorch's
  // segments are judged instead.
  if (driver && settings.hooks == interpose::kTorchHook &&
      torch_was_not_replaced(process, settings))
    return Judged::not_replaced;
  return driver || settings.cpu ? Judged::yes : Judged::nothing_to_guard;
}

std::string allocation_site(const Finding& finding) {
  return finding.python_allocated.empty() ? sites(finding.allocated, kSiteFrames)
                                          : sites(finding.python_allocated, kSiteFrames);
}

const std::string& kernel_of(const Finding& finding) {
  return finding.kernel.empty() ? finding.only_kernel : finding.kernel;
}

std::string signature(const Finding& finding) {
  std::string out = fmt::format("{}: ", name_of(finding.kind));
  switch (finding.kind) {
    case FindingKind::device_error:
      // Use nothing that only a core dump provides, because a replay makes none.
      return out + (kernel_of(finding).empty()
                        ? fmt::format("error {} from {}{}", finding.code, finding.call,
                                      mistake_site(finding))
                        : fmt::format("error {} in {}", finding.code, kernel_of(finding)));
    case FindingKind::bad_free:
      out += fmt::format("{} of {}{}", finding.call,
                         finding.block.ordinal == 0 ? "an address of no block"
                         : finding.block.freed      ? "a freed block"
                                                    : "an address inside a block",
                         mistake_site(finding));
      break;
    case FindingKind::after_free:
      out += fmt::format("{} of a freed block{}{}", name_of(finding.access),
                         finding.call.empty() ? "" : " by " + finding.call, mistake_site(finding));
      break;
    case FindingKind::range:
      out += fmt::format("{} of {}{} {} a block", name_of(finding.access), finding.call,
                         mistake_site(finding), name_of(finding.side));
      break;
    case FindingKind::guard_page:
      out += fmt::format("{}{} {} a block", name_of(finding.access), mistake_site(finding),
                         name_of(finding.side));
      break;
    case FindingKind::canary:  // found by the free, long after the mistake
      out += fmt::format("{} {} a block", name_of(finding.access), name_of(finding.side));
      break;
  }
  const std::string allocated = allocation_site(finding);
  return allocated.empty() ? out : fmt::format("{}, allocated in {}", out, allocated);
}

std::string key_of(const ProcessRecord& process, const Finding& finding) {
  return fmt::format("{}: {}", target_of_program(process.command()), signature(finding));
}

std::vector<DistinctFinding> ProgramRun::findings() const {
  std::vector<DistinctFinding> out;
  std::map<std::string, std::size_t> known;
  for (const auto& process : processes) {
    std::set<std::size_t> its;
    for (const auto& finding : process.findings) {
      const auto [at, is_new] = known.emplace(key_of(process, finding), out.size());
      if (is_new)
        out.push_back({finding, process.pid, 0,
                       static_cast<std::size_t>(&process - processes.data()), at->first});
      out[at->second].times += finding.times;
      its.insert(at->second);
    }
    for (const std::size_t i : its) ++out[i].in_processes;
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
  // The dropped findings are unknown, so no mark covers them.
  if (count(Counter::findings_dropped) != 0) return finding_code;
  for (const auto& process : processes)
    for (const auto& finding : process.findings)
      if (!suppressed.contains(key_of(process, finding))) return finding_code;
  // The exit code after a request to end carries no information.
  if (ended.over_time) return kOverTime;
  return is_judged() ? ended.exit_code : kCannotGuard;
}

}  // namespace redzone::guard
