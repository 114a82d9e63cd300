// Runs a program under the guard and reads the records of its processes.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "guard/framework.h"
#include "guard/program_run.h"

namespace redzone::guard {

// The library to preload. Its path is relative to the binary's, so that the build folder can be
// copied. A harness error if it is missing.
Result<std::filesystem::path> guard_library();

struct RunRequest {
  Started started;  // if `folder` is set, the recorded start is repeated (find_program())
  std::filesystem::path library;  // result of guard_library()
  interpose::Settings settings;
  Framework framework = Framework::none;  // the framework to configure
  std::string cuda_gdb = {};              // its path; "" if there is none
  bool dumps = false;                     // write driver core dumps, if cuda-gdb can read them
  int standard_output = 1, standard_error = 2;
  std::optional<std::chrono::milliseconds> limit = {};
  int standard_input = 0;
};

// Returns a refusal if the program could not be started under the guard. The result's `started` is
// that of the request, plus the variables set for a framework; the caller completes it for a
// program that runs in the environment of this process.
tl::expected<ProgramRun, Refusal> run_guarded(const RunRequest& request);

// Implements `redzone guard --attach`: creates the folder and writes the settings into it.
// Processes that preload the library and get the name of the folder write their records into it. A
// usage error if the folder exists.
Result<void> prepare_folder(const std::filesystem::path& folder,
                            const interpose::Settings& settings);
// Reads the records of such a folder, except those of collecting commands. A usage error if it is
// not such a folder.
Result<ProgramRun> collect_folder(const std::filesystem::path& folder);

}  // namespace redzone::guard
