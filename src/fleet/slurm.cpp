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

// Slurm's --time is in minutes; the work of a job before and after its night takes additional
// minutes.
constexpr double kMinute = 60;
constexpr int kMoreMinutes = 20;
// Number of shards that the last job merges and describes in a minute, with a margin for a slow
// shared folder.
constexpr int kShardsAMinute = 20;

double seconds_in(TableReader& table, std::string_view name, double otherwise) {
  if (!table.has(name)) return otherwise;
  const double seconds = table.number(name);
  if (seconds < 1) throw table.error(name, "is less than a second");
  return seconds;
}

// The output of a Slurm command as one line.
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
  line = line.substr(line.rfind('\n') + 1);  // after warnings
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
                    if (table.has("report")) site.report = table.texts("report");
                    if (table.has("examine")) site.examine = table.texts("examine");
                    for (TableReader& model : table.tables("model")) {
                      site.models.push_back({model.name("name"), model.texts("options")});
                      model.done();
                    }
                    site.shards_reduce = table.flag("shards_reduce", site.shards_reduce);
                    site.snapshot_seconds =
                        seconds_in(table, "snapshot_seconds", site.snapshot_seconds);
                    site.lease_seconds = seconds_in(table, "lease_seconds", site.lease_seconds);
                    site.answer_seconds = seconds_in(table, "answer_seconds", site.answer_seconds);
                    table.done();
                    return site;
                  }));
  }
  std::error_code error;
  site.script = fs::absolute(site.script, error);
  RZ_TRY(read_file(site.script));
  return site;
}

Result<std::vector<Model>> models_of(const Site& site, int shards) {
  const int n = std::max<int>(1, static_cast<int>(site.models.size()));
  if (n > shards)
    return usage_error(
        fmt::format("{} shards are too few for the {} models of the site's file", shards, n));
  std::vector<Model> models;
  models.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    models.push_back(
        {.name = site.models.empty() ? "" : site.models[static_cast<std::size_t>(i)].name,
         .shards = shards / n + (i < shards % n ? 1 : 0)});
  return models;
}

std::vector<std::string> Command::words(const std::vector<std::string>& after) const {
  Words words = options;
  if (!after.empty())
    words.push_back(fmt::format("--dependency=afterany:{}", fmt::join(after, ":")));
  add(words, script);
  return words;
}

Commands commands_of(const Fleet& fleet, const Layout& layout, const Site& site,
                     const std::string& redzone) {
  std::error_code error;
  const std::string root = layout.root.string(), logs = layout.logs().string();
  const int minutes = static_cast<int>(std::ceil(fleet.seconds / kMinute));
  const auto options = [&](const std::string& name, int work_minutes, const std::string& log) {
    Words words{"sbatch",
                "--parsable",
                "--job-name=" + name,
                "--requeue",
                "--open-mode=append",
                "--chdir=" + fs::current_path(error).string(),
                fmt::format("--output={}/{}", logs, log)};
    // The batch script receives the signal and passes it on.
    words.emplace_back("--signal=B:TERM@120");
    if (minutes > 0) words.push_back(fmt::format("--time={}", work_minutes + kMoreMinutes));
    add(words, site.sbatch);
    return words;
  };
  const auto script = [&](const char* role) {
    return Words{site.script.string(), role, redzone, root, fleet.uid};
  };
  Commands commands;
  int first = 1;
  for (std::size_t i = 0; i < fleet.models.size(); ++i) {
    const Model& model = fleet.models[i];
    const Words on_model = i < site.models.size() ? site.models[i].options : Words();
    Command shards{options("redzone", minutes, "shard-%a.txt"), script("shard")};
    add(shards.options, {fmt::format("--array={}-{}", first, first + model.shards - 1)});
    Command examination{options("redzone-examine", minutes, fmt::format("examine-{}.txt", i + 1)),
                        script("examine")};
    examination.script.push_back(std::to_string(i + 1));
    for (Command* command : {&shards, &examination}) {
      add(command->options, site.shards);
      add(command->options, on_model);
    }
    add(examination.options, site.examine);
    commands.shards.push_back(std::move(shards));
    commands.examinations.push_back(std::move(examination));
    first += model.shards;
  }
  // The hub is also restarted while shards wait for nodes and are restarted: it requeues itself at
  // its time limit, and requests no more time than the partitions of the shards allow.
  commands.hub = {options("redzone-hub", minutes, "hub.txt"), script("hub")};
  commands.report = {options("redzone-report", fleet.shards / kShardsAMinute, "report.txt"),
                     script("report")};
  for (Command* command : {&commands.hub, &commands.report}) add(command->options, site.hub);
  add(commands.report.options, site.report);
  return commands;
}

Result<Jobs> submit(const Commands& commands, const RunProgram& run) {
  Jobs jobs;
  const auto submitted = [&]() -> Result<void> {
    for (const auto& command : commands.shards) {
      RZ_TRY_ASSIGN(auto job, submit_one(command.words(), run));
      jobs.shards.push_back(std::move(job));
    }
    RZ_TRY_ASSIGN(jobs.hub, submit_one(commands.hub.words(), run));
    for (const auto& command : commands.examinations) {
      RZ_TRY_ASSIGN(auto job, submit_one(command.words(jobs.shards), run));
      jobs.examinations.push_back(std::move(job));
    }
    RZ_TRY_ASSIGN(jobs.report, submit_one(commands.report.words(jobs.on_gpus()), run));
    return {};
  }();
  if (submitted) return jobs;
  cancel_all(jobs, run);
  return tl::unexpected(submitted.error());
}

void cancel_all(const Jobs& jobs, const RunProgram& run) {
  for (const auto& job : jobs.all()) (void)run(cancelling(job, {}));
}

Result<int> cancel(const Jobs& jobs, const RunProgram& run) {
  int told = 0;
  const std::vector<std::pair<std::string, Words>> ways{{"PENDING", {"--state=PENDING"}},
                                                        {"RUNNING", {"--signal=TERM", "--batch"}}};
  for (const auto& [state, options] : ways)
    for (const auto& job : jobs.on_gpus()) {
      // scancel refuses a job that has ended, possibly between two calls. squeue refuses a job that
      // ended long ago.
      const auto any = [&, &state = state]() -> Result<bool> {
        RZ_TRY_ASSIGN(const Output listed, run({"squeue", "--noheader", "--format=%i",
                                                "--states=" + state, "--jobs=" + job}));
        if (listed.status == 0) return !listed.text.empty();
        if (listed.text.find("Invalid job id") != std::string::npos) return false;
        return harness_error(one_line(listed.text));
      };
      RZ_TRY_ASSIGN(const bool before, any());
      if (!before) continue;
      RZ_TRY_ASSIGN(const Output output, run(cancelling(job, options)));
      if (output.status == 0) {
        ++told;
        continue;
      }
      RZ_TRY_ASSIGN(const bool still, any());
      if (still) return harness_error(one_line(output.text));
    }
  return told;
}

std::string queue_of(const Jobs& jobs, const RunProgram& run) {
  const auto output = run({"squeue", "--noheader", "--format=%.14i %.14j %.10T %.10M %R",
                           fmt::format("--jobs={}", fmt::join(jobs.all(), ","))});
  return output && output->status == 0 ? output->text : "";
}

}  // namespace redzone::fleet
