#include "bench/tma.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "bench/detection.h"
#include "bench/line_process.h"
#include "bench/throughput.h"
#include "bench/workload.h"
#include "core/device_traits.h"
#include "generators/descriptors.h"
#include "tma/agreement.h"

namespace redzone::bench {
namespace {

constexpr std::uint64_t kDescriptorSeed = 1;
constexpr std::string_view kLengthOne = "puzzle.tma_unit_stride";
constexpr std::chrono::milliseconds kDeadline = std::chrono::seconds(300);
// A CUresult that no descriptor causes.
constexpr int kFailed = 999;

// Without a driver, the rules are checked twice, and the second result replaces the driver's.
Result<tma::Agreement> ask_about_descriptors(device::Device& device, std::uint64_t count) {
  generators::DescriptorGenerator generator(kDescriptorSeed);
  TensorMap map;
  tma::AgreementSetup setup;
  setup.count = count;
  setup.compute_capability = std::max(device.info().compute_capability, 90);
  const bool by_driver = traits_of(device.info().kind).execution.driver_encodes_descriptors;
  setup.next = [&] { return generator.next().descriptor; };
  setup.encode = [&](const tma::Descriptor& d) {
    if (!by_driver)
      return tma::answer_of_driver(tma::check(d, setup.compute_capability)) == tma::Answer::rejects
                 ? 1
                 : 0;
    return device.encode(d, map).value_or(kFailed);
  };
  // Only the number of disagreements is measured; `redzone tma agree` reduces them.
  setup.reduce = [](const tma::Descriptor& d, const auto&) { return d; };
  return tma::compare(setup);
}

std::string answer_count(device::Device& device, std::uint64_t count) {
  const auto agreement = ask_about_descriptors(device, count);
  if (!agreement) return "error " + agreement.error().message;
  return fmt::format("ok {} {} {} {}", agreement->descriptors, agreement->disagreed,
                     agreement->checker_s, agreement->driver_s);
}

Result<DescriptorRates> rates(const Setup& setup) {
  RZ_TRY_ASSIGN(auto process, LineProcess::start(setup.bare_command(kDescriptorLoop)));
  RZ_TRY_ASSIGN(const auto line, process.read_line(kDeadline));
  std::istringstream words(line);
  std::string ok;
  double checker_s = 0, driver_s = 0;
  DescriptorRates out;
  words >> ok >> out.descriptors >> out.disagreed >> checker_s >> driver_s;
  if (!words || ok != "ok") return harness_error("the descriptor loop reported: " + line);
  const auto count = static_cast<double>(out.descriptors);
  if (checker_s > 0) out.checker_per_s = count / checker_s;
  if (const auto& device = traits_of(setup.device); !device.execution.driver_encodes_descriptors)
    out.why_no_driver = fmt::format("the {} device has no driver", device.name);
  else if (driver_s > 0)
    out.driver_per_s = count / driver_s;
  return out;
}

}  // namespace

int serve_descriptors(int socket_fd, device::Device& device, std::uint64_t count) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  send_line(socket_fd, answer_count(device, count));
  return 0;
}

Result<void> measure_tma(const Setup& setup, Report& report) {
  setup.say("descriptors");
  RZ_TRY_ASSIGN(auto measured, rates(setup));
  report.tma.emplace();
  report.tma->descriptors = std::move(measured);
  const TargetEntry* puzzle = setup.registry.find(kLengthOne, setup.device);
  for (const auto seed : setup.effort.seeds) {
    if (setup.stop()) return {};
    if (puzzle == nullptr) {
      report.tma->length_one.push_back(
          {.puzzle = std::string(kLengthOne), .seed = seed, .why_not = "there is no such target"});
      continue;
    }
    RZ_TRY_ASSIGN(auto found, measure_detection(setup, *puzzle, seed));
    report.tma->length_one.push_back(std::move(found));
  }
  if (setup.stop()) return {};
  RZ_TRY_ASSIGN(auto throughput, measure_throughput(setup, kRaggedWorkload));
  report.tma->ragged = std::move(throughput);
  return {};
}

}  // namespace redzone::bench
