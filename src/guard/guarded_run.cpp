#include "guard/guarded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "core/read_file.h"
#include "core/temporary_folder.h"
#include "core/uid.h"
#include "core/write_file.h"
#include "guard/core_dump.h"

namespace redzone::guard {

namespace fs = std::filesystem;

namespace {

// The file that holds the uid of a folder.
constexpr const char* kUidFile = "uid";
constexpr std::size_t kMostUidBytes = 64;

bool collects(const ProcessRecord& process) {
  std::error_code error;
  const auto& argv = process.started.argv;
  return process.program == fs::read_symlink("/proc/self/exe", error).string() &&
         std::find(argv.begin(), argv.end(), "--collect") != argv.end();
}

void note_framework(const std::string& note, ProgramRun& run) {
  if (!note.empty()) run.framework += (run.framework.empty() ? "" : "; ") + note;
}

// Adds a note on the processes' use of frameworks.
void note_use(Framework framework, ProgramRun& run) {
  FrameworkUse use;
  for (const auto& process : run.processes) {
    if (process.is(Fact::torch_present)) {
      ++use.torch;
      if (process.is(Fact::torch_replaced)) ++use.torch_replaced;
    }
    if (process.is(Fact::cupy_replaced)) ++use.cupy_replaced;
  }
  note_framework(use_note(use, framework, run.settings.hooks), run);
}

}  // namespace

Result<fs::path> guard_library() {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  const auto out = self.parent_path().parent_path() / "lib" / "redzone" / "libredzone_guard.so";
  if (error || !fs::exists(out, error))
    return harness_error(fmt::format(
        "guard: {} is missing: it is built on x86-64 only, and without sanitizers", out.string()));
  return out;
}

tl::expected<ProgramRun, Refusal> run_guarded(const RunRequest& request) {
  const auto folder = TemporaryFolder::create("guard");
  if (!folder) return tl::unexpected<Refusal>(Refusal{kCannotGuard, folder.error().message});
  ProgramRun run;
  run.started = request.started;
  run.settings = request.settings;
  run.foreign_preload = foreign_preload(request.started);
  RZ_TRY_ASSIGN(const auto program, find_program(request.started));
  run.settings.hooks |= hooks_for(request.framework, program);
  auto prepared = prepare(request.framework, program);
  const auto hooks = prepare_hooks(run.settings.hooks, hooks_folder(request.library),
                                   variable_of(request.started, "PYTHONPATH"));
  note_framework(hooks.note, run);
  note_framework(prepared.note, run);
  for (const auto& [name, value] : prepared.environment)
    run.started.environment.push_back({name, value});
  // The hooks belong to this build, so they are not recorded as part of the program's start.
  prepared.environment.insert(prepared.environment.end(), hooks.environment.begin(),
                              hooks.environment.end());
  const bool dumps = request.dumps && !request.cuda_gdb.empty();
  if (dumps)
    for (auto& one : dump_environment(folder->path()))
      prepared.environment.push_back(std::move(one));
  RZ_TRY_ASSIGN(run.ended,
                run_program({request.started, program, request.library, folder->path(),
                             run.settings, std::move(prepared.environment), request.standard_output,
                             request.standard_error, request.limit, request.standard_input}));
  run.processes = read_process_records(folder->path(), run.unreadable);
  note_use(request.framework, run);
  if (dumps && !read_core_dumps(run.processes, request.cuda_gdb)) run.ended.passed_on = SIGINT;
  return run;
}

Result<void> prepare_folder(const fs::path& folder, const interpose::Settings& settings) {
  std::error_code error;
  if (!fs::create_directory(folder, error))
    return usage_error(fmt::format("guard: --attach {}: {}", folder.string(),
                                   error ? error.message() : "it exists; name a new folder"));
  // The folder is private: its records contain arguments and variables, and what is collected from
  // it can be replayed.
  fs::permissions(folder, fs::perms::owner_all, error);
  if (error)
    return usage_error(fmt::format("guard: --attach {}: {}", folder.string(), error.message()));
  char text[interpose::kSettingsTextBytes];
  interpose::format_settings(settings, text);
  for (const auto& [file, contents] :
       {std::pair{interpose::kSettingsFile, std::string(text)}, std::pair{kUidFile, new_uid()}})
    if (const auto written = write_file(folder / file, contents); !written)
      return usage_error("guard: --attach: " + written.error().message);
  return {};
}

Result<ProgramRun> collect_folder(const fs::path& folder) {
  ProgramRun out;
  const auto text = read_file(folder / interpose::kSettingsFile, interpose::kSettingsTextBytes);
  if (!text)
    return usage_error(fmt::format("guard: --collect {}: no folder of 'redzone guard --attach': {}",
                                   folder.string(), text.error().message));
  if (!interpose::parse_settings(text->c_str(), out.settings))
    return usage_error(fmt::format("guard: --collect {}: its settings are not those of this build",
                                   folder.string()));
  RZ_TRY_ASSIGN(out.folder_uid, read_file(folder / kUidFile, kMostUidBytes));
  out.processes = read_process_records(folder, out.unreadable);
  // In a shell that sets the two variables, the collecting command itself is guarded; drop its
  // record.
  std::erase_if(out.processes, [](const ProcessRecord& p) { return collects(p); });
  note_use(Framework::none, out);
  return out;
}

}  // namespace redzone::guard
