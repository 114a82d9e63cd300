#include "report/reference.h"

#include <fmt/format.h>

#include "report/format.h"

namespace redzone::report {

std::string compared_count(const ReferenceCount& count) {
  if (count.calls == 0) return "";
  std::string out = fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(count.compared)),
                                grouped(static_cast<std::uint64_t>(count.calls)));
  if (count.sampled > 0)
    out += fmt::format(" ({} sampled)", grouped(static_cast<std::uint64_t>(count.sampled)));
  return out;
}

std::string compared_calls(const ReferenceCount& count) {
  if (count.calls == 0) return "";
  return fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(count.compared)),
                     counted(static_cast<std::uint64_t>(count.calls), "call"));
}

std::string sampled_text(const ReferenceCount& count) {
  if (count.sampled == 0) return "";
  return fmt::format(", {} of them in a sample of rows",
                     grouped(static_cast<std::uint64_t>(count.sampled)));
}

std::string compared_text(const ReferenceCount& count) {
  if (count.calls == 0) return "";
  return "compared with the reference: " + compared_calls(count) + sampled_text(count);
}

std::string not_compared_text(const ReferenceCount& count, std::string_view why) {
  if (count.calls == 0 || count.compared > 0) return "";
  return fmt::format("not judged by reference: none of {} was compared: {}",
                     counted(static_cast<std::uint64_t>(count.calls), "call"), why);
}

std::string outputs_not_judged_text(std::string_view target, const ReferenceCount& reference,
                                    const OutputCount& outputs, std::string_view why) {
  if (reference.calls > 0 || outputs.by_digests > 0 || outputs.by_nothing == 0) return "";
  return fmt::format("no oracle judged the outputs of {}: {}", target, why);
}

}  // namespace redzone::report
