#include "guard/narrow.h"

#include <algorithm>
#include <map>

#include "sanitizer/cuda_gdb.h"

namespace redzone::guard {
namespace {

bool lacks_launch(const Finding& finding) {
  return finding.on_device && finding.launch.ordinal == 0 &&
         (finding.kind == FindingKind::canary || finding.kind == FindingKind::device_error);
}

// The launch that returned an error in a run that waits for each: no other was unfinished.
void take_error(Finding& finding, const ProcessRecord& process, const Finding& second) {
  const Finding before = finding;
  finding = second;
  // The first run has met it where the program did.
  finding.call = before.call;
  finding.where = before.where;
  finding.python_where = before.python_where;
  if (finding.launch.ordinal == 0 && process.unfinished.size() == 1)
    finding.launch = process.unfinished[0];
  if (finding.kernel.empty()) finding.kernel = sanitizer::bare_kernel(finding.launch.kernel);
}

const Finding* error_of(const ProcessRecord& process) {
  const auto found = std::find_if(
      process.findings.begin(), process.findings.end(),
      [](const Finding& finding) { return finding.kind == FindingKind::device_error; });
  return found == process.findings.end() ? nullptr : &*found;
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
  const ProcessRecord* broken = nullptr;
  for (const auto& process : second.processes) {
    for (const auto& finding : process.findings)
      if (finding.kind == FindingKind::canary && finding.launch.ordinal != 0)
        canaries.emplace(signature(finding), &finding);
    if (broken == nullptr && error_of(process) != nullptr) broken = &process;
  }
  std::size_t narrowed = 0;
  for (auto& process : run.processes)
    for (auto& finding : process.findings) {
      if (!lacks_launch(finding)) continue;
      if (finding.kind == FindingKind::device_error) {
        if (broken == nullptr || error_of(*broken)->code != finding.code) continue;
        take_error(finding, *broken, *error_of(*broken));
        narrowed += finding.kernel.empty() ? 0 : 1;
        continue;
      }
      const auto found = canaries.find(signature(finding));
      if (found == canaries.end()) continue;
      finding.launch = found->second->launch;
      finding.launches_since_right = found->second->launches_since_right;
      ++narrowed;
    }
  return narrowed;
}

}  // namespace redzone::guard
