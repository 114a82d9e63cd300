// Where the time of a trial goes: in the calls of the device, and beside them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/workload.h"
#include "device/device.h"

namespace redzone::bench {

// Runs the list of plans repeatedly, each column for at least `time` after one pass that is not
// measured: bare, bare with the screen's trials, the screen without and with the reference. In one
// process, without workers and messages. A harness error if a trial does not complete.
Result<std::vector<PhaseColumn>> measure_phases(device::Device& device, const Registry& registry,
                                                const Workload& workload, const Oracle& screen,
                                                std::chrono::milliseconds time);

// One line for the socket, and back.
std::string phases_line(const std::vector<PhaseColumn>& columns);
Result<std::vector<PhaseColumn>> parse_phases(const std::string& line);

}  // namespace redzone::bench
