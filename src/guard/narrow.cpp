#include "guard/narrow.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sanitizer/cuda_gdb.h"

namespace redzone::guard {
namespace {

bool lacks_launch(const Finding& finding) {
  return finding.on_device && finding.launch.ordinal == 0 &&
         (finding.kind == FindingKind::canary || finding.kind == FindingKind::device_error);
}

// Takes the launch of an error from a run that waits for each launch: there no other launch was
// unfinished.
void take_error(Finding& finding, const ProcessRecord& process, const Finding& second) {
  const Finding before = finding;
  finding = second;
  // Keep the place where the first run reported the error.
  finding.call = before.call;
  finding.where = before.where;
  finding.python_where = before.python_where;
  finding.only_kernel = before.only_kernel;
  if (finding.launch.ordinal == 0 && process.unfinished.size() == 1 && process.unfinished_lost == 0)
    finding.launch = process.unfinished[0];
  if (finding.kernel.empty()) finding.kernel = sanitizer::bare_kernel(finding.launch.kernel);
}

}  // namespace

Narrowing narrowing_of(const ProgramRun& run) {
  Narrowing out = Narrowing::none;
  for (const auto& process : run.processes)
    for (const auto& finding : process.findings)
      if (lacks_launch(finding))
        out = std::max(out,
                       finding.kind == FindingKind::canary ? Narrowing::canary : Narrowing::error);
  return out;
}

std::size_t narrow(ProgramRun& run, const ProgramRun& second) {
  std::map<std::string, const Finding*> canaries;
  std::map<std::string, std::vector<const ProcessRecord*>> broken;  // by program, in their order
  for (const auto& process : second.processes) {
    for (const auto& finding : process.findings)
      if (finding.kind == FindingKind::canary && finding.launch.ordinal != 0)
        canaries.emplace(key_of(process, finding), &finding);
    if (process.first_error() != nullptr)
      broken[target_of_program(process.command())].push_back(&process);
  }
  std::size_t narrowed = 0;
  std::map<std::string, std::size_t> ranks;
  for (auto& process : run.processes) {
    const std::string program = target_of_program(process.command());
    const std::size_t rank = process.first_error() == nullptr ? 0 : ranks[program]++;
    const auto& like = broken[program];
    const ProcessRecord* const its = rank < like.size() ? like[rank] : nullptr;
    for (auto& finding : process.findings) {
      if (!lacks_launch(finding)) continue;
      if (finding.kind == FindingKind::device_error) {
        if (its == nullptr || its->first_error()->code != finding.code) continue;
        take_error(finding, *its, *its->first_error());
        narrowed += finding.kernel.empty() ? 0 : 1;
        continue;
      }
      const auto found = canaries.find(key_of(process, finding));
      if (found == canaries.end()) continue;
      finding.launch = found->second->launch;
      finding.launches_since_right = found->second->launches_since_right;
      ++narrowed;
    }
  }
  return narrowed;
}

}  // namespace redzone::guard
