#include "report/guard_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/terminal.h"
#include "report/format.h"

namespace redzone::report {
namespace {

using guard::KernelLaunch;
using guard::LaunchKind;
using guard::LaunchState;

// Limits the text, because more lines would hide the rest of the finding; JSON has all.
constexpr std::size_t kShown = 8;
// Handles of the default streams (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD).
constexpr std::uint64_t kLegacy = 1, kPerThread = 2;

std::string stream_text(std::uint64_t stream) {
  if (stream == 0) return "a stream that was destroyed";
  if (stream == kLegacy) return "the default stream";
  if (stream == kPerThread) return "the default stream of its thread";
  return fmt::format("stream {:#x}", stream);
}

std::string name_text(const KernelLaunch& launch) {
  if (launch.kind == LaunchKind::graph) return "a graph";
  return launch.kernel.empty() ? "a kernel without a known name" : printable(launch.kernel);
}

std::string launch_summary(const KernelLaunch& launch) {
  std::string out = fmt::format("{} (launch {}", name_text(launch), grouped(launch.ordinal));
  if (launch.kind == LaunchKind::kernel)
    out += fmt::format(", grid {}, block {}", fmt::join(launch.grid, " x "),
                       fmt::join(launch.block, " x "));
  if (launch.shared_bytes != 0)
    out += fmt::format(", {} of shared memory", counted(launch.shared_bytes, "byte"));
  out += ", " + stream_text(launch.stream);
  if (launch.state == LaunchState::calling) out += ", the call has not returned";
  return out + ")";
}

// "argument 2" if the offsets of the arguments are known.
std::string argument_text(const KernelLaunch& launch, std::uint32_t offset) {
  const auto& all = launch.arguments;
  const auto after =
      std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.offset_bytes > offset; });
  if (after == all.begin()) return fmt::format("byte {} of the arguments", offset);
  const auto& argument = *std::prev(after);
  const auto number = std::distance(all.begin(), after);
  return offset == argument.offset_bytes
             ? fmt::format("argument {}", number)
             : fmt::format("argument {}, byte {}", number, offset - argument.offset_bytes);
}

std::string pointer_text(const KernelLaunch& launch, const guard::Pointer& pointer) {
  const auto into = pointer.value - pointer.block.address;
  std::string where = "to";
  if (into == pointer.block.bytes)
    where = "to the end of";
  else if (into != 0)
    where = fmt::format("{} into", counted(into, "byte"));
  return fmt::format("{} points {} {} block {} of {}", argument_text(launch, pointer.offset_bytes),
                     where, pointer.block.freed ? "the freed" : "the live", pointer.block.ordinal,
                     counted(pointer.block.bytes, "byte"));
}

}  // namespace

std::string hex(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

std::string launch_text(std::string_view title, const KernelLaunch& launch) {
  std::string out = fmt::format("  {:10} {}\n", title, launch_summary(launch));
  for (const auto& pointer : launch.pointers)
    out += fmt::format("  {:10}   {}\n", "", pointer_text(launch, pointer));
  return out;
}

std::string unfinished_text(const std::vector<KernelLaunch>& launches, std::uint64_t lost) {
  if (launches.empty() && lost == 0) return "";
  if (launches.size() == 1 && lost == 0)
    return fmt::format("  {:10} one launch was not known to have completed:\n", "launched") +
           launch_text("", launches[0]);
  const std::string more =
      lost == 0 ? "" : fmt::format(" and up to {} more, which are no longer known,", grouped(lost));
  std::string out = fmt::format(
      "  {:10} {}{} were not known to have completed, and each may be the one (--launch blocking "
      "tells which); newest first:\n",
      "launched", launches.size() == 1 ? "1 launch" : fmt::format("{} launches", launches.size()),
      more);
  for (std::size_t i = 0; i < std::min(launches.size(), kShown); ++i)
    out += launch_text("", launches[i]);
  if (launches.size() > kShown)
    out += fmt::format("  {:10} and {} before\n", "", launches.size() - kShown);
  return out;
}

Json block_json(const guard::Block& block) {
  if (block.ordinal == 0) return nullptr;
  return {{"address", hex(block.address)},
          {"bytes", block.bytes},
          {"ordinal", block.ordinal},
          {"freed", block.freed}};
}

Json launch_json(const KernelLaunch& launch) {
  if (launch.ordinal == 0) return nullptr;
  Json arguments = Json::array(), pointers = Json::array();
  for (const auto& a : launch.arguments)
    arguments.push_back({{"offset", a.offset_bytes}, {"bytes", a.bytes}, {"value", hex(a.value)}});
  for (const auto& p : launch.pointers)
    pointers.push_back(
        {{"offset", p.offset_bytes}, {"value", hex(p.value)}, {"block", block_json(p.block)}});
  return {{"ordinal", launch.ordinal},
          {"state", name_of(launch.state)},
          {"kind", name_of(launch.kind)},
          {"kernel", printable(launch.kernel)},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.shared_bytes},
          {"stream", hex(launch.stream)},
          {"thread", launch.thread},
          {"arguments", arguments},
          {"pointers", pointers}};
}

Json launches_json(const std::vector<KernelLaunch>& launches) {
  Json out = Json::array();
  for (const auto& launch : launches) out.push_back(launch_json(launch));
  return out;
}

}  // namespace redzone::report
