// Runs a program under the guard from its start to what its processes have recorded.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "guard/framework.h"
#include "guard/program_run.h"

namespace redzone::guard {

// The library to preload: beside the binary, so that the build folder can be copied. A harness
// error if it is missing.
Result<std::filesystem::path> guard_library();

struct RunRequest {
  Started started;                // with a folder: to be started as it was then (find_program())
  std::filesystem::path library;  // of guard_library()
  interpose::Settings settings;
  Framework framework = Framework::none;  // whose environment is set
  std::string cuda_gdb = {};              // its path; "" if there is none
  bool dumps = false;                     // core dumps of the driver, if cuda-gdb can read them
  int standard_output = 1, standard_error = 2;
  std::optional<std::chrono::milliseconds> limit = {};
  int standard_input = 0;
};

// A refusal if the program could not be started under the guard. `started` of the result is that of
// the request, with what was set for a framework; the caller completes it for a program that runs
// in the surroundings of this process.
tl::expected<ProgramRun, Refusal> run_guarded(const RunRequest& request);

// What `redzone guard --attach` prepares: processes that have the library preloaded and the name of
// the folder write their records into it.
//
// Creates the folder, and writes the settings into it. A usage error if it exists.
Result<void> prepare_folder(const std::filesystem::path& folder,
                            const interpose::Settings& settings);
// The records of such a folder, without those of commands that collect. A usage error if it is
// none.
Result<ProgramRun> collect_folder(const std::filesystem::path& folder);

}  // namespace redzone::guard
