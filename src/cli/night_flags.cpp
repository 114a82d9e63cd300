#include "cli/night_flags.h"

#include <vector>

#include "cli/fuzzing.h"
#include "cli/selection_flags.h"
#include "core/terminal.h"
#include "nightly/corpus.h"

namespace redzone::cli {
namespace {

std::string nightly_as_typed(const po::variables_map& flags) {
  std::string out = "redzone nightly";
  if (flags.count("target") != 0)
    for (const auto& name : flags["target"].as<std::vector<std::string>>())
      out += " " + shell_quoted(name);
  if (const std::string given = given_flags(flags, "target"); !given.empty()) out += " " + given;
  return out;
}

}  // namespace

void add_night_flags(po::options_description& flags, po::positional_options_description& words) {
  add_selection_flags(flags, words);
  flags.add_options()(
      "time", po::value<std::string>(),
      "total time limit, at most 30 % of it for replays (default: 1h, unless --plans is given)")(
      "plans", po::value<Count>(), "plan limit for each target")(
      "seed", po::value<Count>(),
      "seed of the night; the same for all of its shards (default: drawn from the time)")(
      "corpus", po::value<std::string>(), "folder of plan files to replay as well")(
      "commit", po::value<std::string>()->default_value(""), "commit under test, for the report");
  add_device_flag(flags);
  add_target_flags(flags);
  add_worker_flags(flags);
  add_compile_flag(flags);
}

Result<nightly::NightlyOptions> night_options(const po::variables_map& flags) {
  nightly::NightlyOptions options;
  RZ_TRY_ASSIGN(auto time, duration_flag(flags, "time"));
  RZ_TRY_ASSIGN(auto plans, limit_flag(flags, "plans"));
  options.plans = plans;
  if (time)
    options.time = *time;
  else if (options.plans == 0)
    options.time = std::chrono::hours(1);
  if (flags.count("seed") != 0) options.seed = flags["seed"].as<Count>().value;
  if (flags.count("corpus") != 0) {
    RZ_TRY_ASSIGN(auto corpus, nightly::read_corpus(flags["corpus"].as<std::string>()));
    options.corpus = std::move(corpus);
  }
  options.commit = flags["commit"].as<std::string>();
  options.command = nightly_as_typed(flags);
  return options;
}

}  // namespace redzone::cli
