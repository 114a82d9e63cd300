#include "cli/bisect_builds.h"
#include "cli/output.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "bisect/builds.h"
#include "cli/interrupt.h"
#include "cli/probing_flags.h"
#include "core/terminal.h"
#include "report/bisect.h"

namespace redzone::cli {
namespace {

// The probability that a build with the measured failure rate is judged as passing.
constexpr double kMiss = 0.001;
// The probability that a good build is judged as failing: low, because there may be hundreds of
// builds to misjudge. A failure of a good build, if any, has another signature.
constexpr double kFalseAlarm = 1e-4;

// Tries builds with one engine at a time, because each build has the same targets.
class Trier {
 public:
  Trier(const po::variables_map& flags, const std::vector<std::string>& builds,
        std::chrono::steady_clock::time_point until)
      : flags_(flags), builds_(builds), until_(until) {}

  bisect::BuildProbe operator()(std::size_t build) {
    if (interrupted() || problem_) return {{}, "the bisection was stopped"};
    auto opened = open_probing(flags_, until_, builds_[build]);
    if (!opened) return {{}, opened.error().message};
    engine::Probing& probing = **opened;
    loaded_ = true;
    if (!probing.not_judged().empty()) return {{}, probing.not_judged()};
    bisect::BuildProbe answer;
    // The rates are measured on the first build that fails, which is the last of the list.
    if (!rates_) {
      answer.probe = probing.prober().calibrate(probing.finding().plan, kMiss);
      if (answer.probe.answer == bisect::Answer::fails)
        rates_ = statistics::rates_for(answer.probe.counts.same, answer.probe.counts.judged(),
                                       kMiss, kFalseAlarm);
    } else {
      probing.prober().set_rates(*rates_);
      answer.probe = probing.prober().ask(probing.finding().plan);
    }
    if (const auto& stored = probing.prober().problem(); !stored) problem_ = stored.error();
    if (const auto stored = store_other(probing, builds_[build]); !stored)
      problem_ = stored.error();
    if (answer.probe.answer == bisect::Answer::unjudged)
      answer.skipped = builds_[build] + ": " + answer.probe.counts.said;
    return answer;
  }

  statistics::Rates rates() const { return rates_.value_or(statistics::Rates{}); }
  bool any_loaded() const { return loaded_; }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  const po::variables_map& flags_;
  const std::vector<std::string>& builds_;
  std::chrono::steady_clock::time_point until_;
  std::optional<statistics::Rates> rates_;
  bool loaded_ = false;
  std::optional<Error> problem_;
};

}  // namespace

Result<int> bisect_builds(const po::variables_map& flags, Results& out) {
  const auto& builds = flags["builds"].as<std::vector<std::string>>();
  for (const auto& build : builds)
    if (build.starts_with("-"))
      return usage_error(fmt::format(
          "--builds: '{}' is a flag: list the files of the builds after --builds", build));
  if (builds.size() < 2)
    return usage_error("--builds: two or more builds are expected, the oldest first");
  for (const auto& build : builds)
    if (std::error_code error; !std::filesystem::exists(build, error))
      return usage_error(fmt::format("--builds: no file '{}'", printable(build)));
  RZ_TRY_ASSIGN(auto until, end_of_time(flags));
  // An unknown finding is an error, not a reason to skip a build.
  RZ_TRY_ASSIGN(auto id, parse_id(flags["id"].as<std::string>()));
  RZ_TRY_ASSIGN(auto finding,
                open_store(flags, store::OpenMode::read_only).and_then([&](store::Store s) {
                  return s.finding(id);
                }));
  Trier trier(flags, builds, until);
  const auto result = bisect::find_first_bad(
      builds.size(), [&](std::size_t i) { return trier(i); }, [&] { return trier.rates(); });
  if (trier.problem()) return tl::unexpected(*trier.problem());
  out.print(json_wanted(flags) ? report::builds_json(finding, builds, result)
                               : report::builds_text(finding, builds, result));
  if (interrupted()) return kInterrupted;
  if (result.first_bad || result.differing() != nullptr) return kFound;
  return trier.any_loaded() ? kOk : kNotJudged;
}

}  // namespace redzone::cli
