#include "cli/sanitizer_line.h"

#include <fmt/format.h>

#include "campaign/tool_proof.h"

namespace redzone::cli {
namespace {

constexpr const char* kWithout =
    "memcheck attributes no finding, --sanitizer is an error, bench has no memcheck columns";

}  // namespace

report::DoctorLine sanitizer_line(const std::string& path, bool gpu,
                                  const std::function<Result<void>()>& prove_memcheck) {
  report::DoctorLine line{"compute-sanitizer", false, "not found", kWithout};
  if (path.empty()) return line;
  if (!gpu) {
    line.ok = true;
    line.found = path + " (not tried: no GPU)";
    line.consequence = "";
    return line;
  }
  if (const auto proof = prove_memcheck(); !proof) {
    line.found = fmt::format("{}: {}", path, proof.error().message);
    return line;
  }
  line.ok = true;
  line.found =
      fmt::format("{}: memcheck catches {}", path, campaign::planted_for(SanitizerTool::memcheck));
  line.consequence = "";
  return line;
}

}  // namespace redzone::cli
