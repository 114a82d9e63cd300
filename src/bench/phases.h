// Splits the time of a trial into the device's calls and the rest.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/workload.h"
#include "device/device.h"

namespace redzone::bench {

// Runs the list of plans repeatedly, each column for at least `time` after one unmeasured pass.
// Columns: bare, bare with the screen's trials, the screen without and with the reference. Runs in
// one process, without workers and messages. A harness error if a trial does not complete.
Result<std::vector<PhaseColumn>> measure_phases(device::Device& device, const Registry& registry,
                                                const Workload& workload, const Oracle& screen,
                                                std::chrono::milliseconds time);

// Formats the columns as one line for the socket, and parses it.
std::string phases_line(const std::vector<PhaseColumn>& columns);
Result<std::vector<PhaseColumn>> parse_phases(const std::string& line);

}  // namespace redzone::bench
