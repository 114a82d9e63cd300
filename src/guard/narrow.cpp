#include "guard/narrow.h"

#include <map>
#include <set>

namespace redzone::guard {
namespace {

bool lacks_launch(const Finding& finding) {
  return finding.kind == FindingKind::canary && finding.on_device && finding.launch.ordinal == 0;
}

}  // namespace

bool can_be_narrowed(const ProgramRun& run) {
  for (const auto& process : run.processes)
    for (const auto& finding : process.findings)
      if (lacks_launch(finding)) return true;
  return false;
}

std::size_t narrow(ProgramRun& run, const ProgramRun& second) {
  std::map<std::string, Finding> known;
  for (const auto& one : second.findings())
    if (one.first.launch.ordinal != 0) known.emplace(signature(one.first), one.first);
  std::set<std::string> narrowed;
  for (auto& process : run.processes)
    for (auto& finding : process.findings) {
      if (!lacks_launch(finding)) continue;
      const auto found = known.find(signature(finding));
      if (found == known.end()) continue;
      finding.launch = found->second.launch;
      finding.launches_since_right = found->second.launches_since_right;
      narrowed.insert(found->first);
    }
  return narrowed.size();
}

}  // namespace redzone::guard
