// Findings and runs of a program, for tests of what is made of them.
#pragma once

#include "guard/program_run.h"

namespace redzone::guard::testing {

inline Finding sample_finding() {
  Finding out;
  out.kind = FindingKind::guard_page;
  out.access = Access::write;
  out.side = Side::after;
  out.distance_bytes = 2;
  out.block = {0x1000, 4000, 7, false};
  out.allocated = {{1, "/usr/lib/libstdc++.so.6", 1, "operator new(unsigned long)"},
                   {2, "/home/x/train", 2, "make_buffer(int)"},
                   {3, "/home/x/train", 3, "main"}};
  return out;
}

// Another one, of another signature.
inline Finding sample_before() {
  Finding out = sample_finding();
  out.side = Side::before;
  return out;
}

// A run of `train` whose only process was guarded and has these findings.
inline ProgramRun run_with(std::vector<Finding> findings, int exit_code = 0) {
  ProgramRun out;
  out.started = {{"./train", "--fast"}, "/home/x", {{"TZ", "UTC"}}};
  out.settings.cpu = true;
  out.ended.exit_code = exit_code;
  ProcessRecord& process = out.processes.emplace_back();
  process.pid = 5;
  process.program = "/home/x/train";
  process.facts[static_cast<std::size_t>(Fact::cpu_proven)] = true;
  process.facts[static_cast<std::size_t>(Fact::ended)] = true;
  process.findings = std::move(findings);
  return out;
}

}  // namespace redzone::guard::testing
