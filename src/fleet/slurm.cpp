#include "fleet/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/document.h"
#include "core/read_file.h"
#include "core/table_reader.h"
#include "core/terminal.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

// Slurm's --time has minutes; what a job does before and after its night takes some.
constexpr double kMinute = 60;
constexpr int kMoreMinutes = 20;
// The hub runs while shards wait for nodes and are started again.
constexpr int kHubTimes = 3;

double seconds_in(TableReader& table, std::string_view name, double otherwise) {
  if (!table.has(name)) return otherwise;
  const double seconds = table.number(name);
  if (seconds < 1) throw table.error(name, "is less than a second");
  return seconds;
}

// What a command of Slurm printed, as one line.
std::string one_line(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) out += (out.empty() ? "" : "; ") + text.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

void add(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The number in what `sbatch --parsable` prints: "17" or "17;cluster".
Result<std::string> number_in(const std::string& text) {
  std::string line = text.substr(0, text.find_last_not_of('\n') + 1);
  line = line.substr(line.rfind('\n') + 1);  // behind warnings
  const std::string number = line.substr(0, line.find(';'));
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos)
    return harness_error(fmt::format("sbatch: printed no job number but '{}'", line));
  return number;
}

Result<std::string> submit_one(const Words& words, const RunProgram& run) {
  auto output = run(words);
  if (!output) {
    Error error = output.error();
    error.message += ": fleets need Slurm's commands, which were not found or not started";
    return tl::unexpected(std::move(error));
  }
  if (output->status != 0) return usage_error(one_line(output->text));
  return number_in(output->text);
}

Words cancelling(const std::string& job, const Words& options) {
  Words words{"scancel"};
  add(words, options);
  words.push_back(job);
  return words;
}

}  // namespace

fs::path shipped_folder() {
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path() / "lib" / "redzone" / "fleet";
}

Result<Site> read_site(const fs::path& file) {
  Site site;
  site.script = shipped_folder() / "job.sbatch";
  site.shards = {"--gres=gpu:1"};
  if (!file.empty()) {
    RZ_TRY_ASSIGN(const std::string text, read_file(file));
    RZ_TRY_ASSIGN(const Document document, read_toml(text, file.string(), "a site's fleet.toml"));
    RZ_TRY_ASSIGN(site, checked_read([&] {
                    TableReader table(document);
                    if (table.has("script"))
                      site.script = file.parent_path() / table.text("script");
                    if (table.has("sbatch")) site.sbatch = table.texts("sbatch");
                    if (table.has("shards")) site.shards = table.texts("shards");
                    if (table.has("hub")) site.hub = table.texts("hub");
                    site.snapshot_seconds =
                        seconds_in(table, "snapshot_seconds", site.snapshot_seconds);
                    site.lease_seconds = seconds_in(table, "lease_seconds", site.lease_seconds);
                    table.done();
                    return site;
                  }));
  }
  std::error_code error;
  site.script = fs::absolute(site.script, error);
  RZ_TRY(read_file(site.script));
  return site;
}

std::vector<std::string> Commands::report(const std::string& after) const {
  Words words = report_options;
  words.push_back("--dependency=afterany:" + after);
  add(words, report_script);
  return words;
}

Commands commands_of(const Fleet& fleet, const Layout& layout, const Site& site,
                     const std::string& redzone) {
  std::error_code error;
  const std::string root = layout.root.string(), logs = layout.logs().string();
  const int minutes = static_cast<int>(std::ceil(fleet.seconds / kMinute));
  const auto options = [&](const std::string& name, int times, const std::string& log) {
    Words words{"sbatch",
                "--parsable",
                "--job-name=" + name,
                "--requeue",
                "--open-mode=append",
                "--chdir=" + fs::current_path(error).string(),
                fmt::format("--output={}/{}", logs, log)};
    if (minutes > 0) words.push_back(fmt::format("--time={}", times * minutes + kMoreMinutes));
    add(words, site.sbatch);
    return words;
  };
  const auto script = [&](const char* role) {
    return Words{site.script.string(), role, redzone, root, fleet.uid};
  };
  Commands commands;
  commands.shards = options("redzone", 1, "shard-%a.txt");
  // The batch script gets the signal, and passes it on.
  add(commands.shards, {fmt::format("--array=1-{}", fleet.shards), "--signal=B:TERM@120"});
  add(commands.shards, site.shards);
  add(commands.shards, script("shard"));
  commands.hub = options("redzone-hub", kHubTimes, "hub.txt");
  commands.hub.push_back("--signal=B:TERM@120");
  add(commands.hub, site.hub);
  add(commands.hub, script("hub"));
  commands.report_options = options("redzone-report", 0, "report.txt");
  add(commands.report_options, site.hub);
  commands.report_script = script("report");
  return commands;
}

Result<Jobs> submit(const Commands& commands, const RunProgram& run) {
  Jobs jobs;
  RZ_TRY_ASSIGN(jobs.shards, submit_one(commands.shards, run));
  auto hub = submit_one(commands.hub, run);
  auto report = hub ? submit_one(commands.report(jobs.shards), run) : hub;
  if (report) {
    jobs.hub = *hub;
    jobs.report = *report;
    return jobs;
  }
  if (hub) jobs.hub = *hub;
  cancel_all(jobs, run);
  return tl::unexpected(report.error());
}

void cancel_all(const Jobs& jobs, const RunProgram& run) {
  for (const std::string* job : {&jobs.shards, &jobs.hub, &jobs.report})
    if (!job->empty()) (void)run(cancelling(*job, {}));
}

Result<void> cancel(const Jobs& jobs, const RunProgram& run) {
  const std::vector<std::pair<std::string, Words>> ways{{"PENDING", {"--state=PENDING"}},
                                                        {"RUNNING", {"--signal=TERM", "--batch"}}};
  for (const auto& [state, options] : ways) {
    // scancel refuses a job that has ended, which may be between two calls.
    const auto any = [&, &state = state]() -> Result<bool> {
      RZ_TRY_ASSIGN(const Output listed, run({"squeue", "--noheader", "--format=%i",
                                              "--states=" + state, "--jobs=" + jobs.shards}));
      return listed.status == 0 && !listed.text.empty();
    };
    RZ_TRY_ASSIGN(const bool before, any());
    if (!before) continue;
    RZ_TRY_ASSIGN(const Output output, run(cancelling(jobs.shards, options)));
    if (output.status == 0) continue;
    RZ_TRY_ASSIGN(const bool still, any());
    if (still) return harness_error(one_line(output.text));
  }
  return {};
}

std::string queue_of(const Jobs& jobs, const RunProgram& run) {
  const auto output = run({"squeue", "--noheader", "--format=%.14i %.14j %.10T %.10M %R",
                           fmt::format("--jobs={},{},{}", jobs.shards, jobs.hub, jobs.report)});
  return output && output->status == 0 ? output->text : "";
}

}  // namespace redzone::fleet
