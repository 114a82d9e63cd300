#include "interpose/guarded.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/preload.h"
#include "core/temporary_folder.h"

namespace redzone::interpose {
namespace {

[[noreturn]] void exec(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

}  // namespace

Guarded run_guarded(const std::vector<std::string>& argv, const Settings& settings,
                    const std::vector<std::pair<std::string, std::string>>& environment,
                    bool guarded) {
  const auto folder = TemporaryFolder::create("guarded-test");
  char text[kSettingsTextBytes];
  format_settings(settings, text);
  Guarded out;
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFolderVariable, folder->path().c_str(), 1);
    setenv(kSettingsVariable, text, 1);
    setenv("LD_LIBRARY_PATH", FAKE_DRIVER_DIR, 1);
    if (guarded) setenv("LD_PRELOAD", preload_name(GUARD_LIBRARY, folder->path())->c_str(), 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    exec(argv);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return out;
  out.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::size_t unreadable = 0;
  out.processes = guard::read_process_records(folder->path(), unreadable);
  if (unreadable != 0) out.exit = -1;
  for (const auto& process : out.processes)
    out.findings.insert(out.findings.end(), process.findings.begin(), process.findings.end());
  return out;
}

}  // namespace redzone::interpose
