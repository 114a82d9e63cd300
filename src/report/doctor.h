// The output of `redzone doctor`.
//
// JSON: {"ok", "guard_ok", "lines": [{"what", "ok", "found", "consequence"}]}
#pragma once

#include <string>
#include <vector>

namespace redzone::report {

struct DoctorLine {
  std::string what;         // "NVRTC"
  bool ok = false;          // found, or passed
  std::string found;        // version, path, or the problem
  std::string consequence;  // effect of a failed check, one clause; may be empty
};

struct DoctorReport {
  std::vector<DoctorLine> lines;
  bool ok = false;       // every available device passed its self-proof
  bool guard_ok = true;  // each guard that could be tested here finds a planted overrun
};

std::string doctor_text(const DoctorReport& report);
std::string doctor_json(const DoctorReport& report);

}  // namespace redzone::report
