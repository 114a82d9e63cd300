// The cost of TMA descriptors, and the time until the bug at sequence length 1 is found.
#pragma once

#include "bench/setup.h"
#include "device/device.h"

namespace redzone::bench {

// The name with which setup.bare_command() runs serve_descriptors().
inline constexpr std::string_view kDescriptorLoop = "descriptors";

// Sends one answer with the rates and disagreements of `count` generated descriptors. Runs in a
// process that may open a device. Returns the exit code for main().
int serve_descriptors(int socket_fd, device::Device& device, std::uint64_t count);

// Fills report.tma: descriptors per second, a campaign on puzzle.tma_unit_stride for each seed, and
// the calls/s of ragged prefill as measured by throughput.h.
Result<void> measure_tma(const Setup& setup, Report& report);

}  // namespace redzone::bench
