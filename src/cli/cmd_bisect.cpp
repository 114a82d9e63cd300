// `redzone bisect` and `redzone explain`: which setting is it?
#include <fmt/format.h>

#include <iostream>

#include "bisect/bisect.h"
#include "bisect/boundary.h"
#include "cli/bisect_builds.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/probing.h"
#include "report/bisect.h"

namespace redzone::cli {
namespace {

// 1 when the plan fails still, as for a replay.
int exit_code(const bisect::Probe& base) {
  if (interrupted()) return kInterrupted;
  if (base.answer == bisect::Answer::fails) return kFound;
  return base.counts.judged() == 0 ? kNotJudged : kOk;
}

// Opens what --id names, and prints what `ask` makes of it. `ask` gives the base.
template <class Ask>
Result<int> with_finding(const po::variables_map& flags, Ask ask) {
  auto until = end_of_time(flags);
  if (!until) return tl::unexpected(until.error());
  auto opened = Probing::open(flags, *until);
  if (!opened) return tl::unexpected(opened.error());
  Probing& probing = **opened;
  if (!probing.not_judged().empty()) {
    fmt::print(stderr, "not applicable: {}\n", probing.not_judged());
    return kNotJudged;
  }
  const Result<bisect::Probe> base = ask(probing);
  if (!base) return tl::unexpected(base.error());
  if (const auto& problem = probing.prober().problem(); !problem)
    return tl::unexpected(problem.error());
  return exit_code(*base);
}

using Print = std::string (*)(const store::Finding&, const bisect::Bisection&);

Result<int> bisect_settings(const po::variables_map& flags, Print print) {
  return with_finding(flags, [&](Probing& probing) -> Result<bisect::Probe> {
    bisect::BisectOptions options;
    options.axes = probing.axes();
    const auto result =
        bisect::bisect(probing.finding().plan, probing.spec(), probing.prober(), options);
    std::cout << (json_wanted(flags) ? report::bisection_json(probing.finding(), result)
                                     : print(probing.finding(), result));
    return result.base;
  });
}

Result<int> bisect_dim(const po::variables_map& flags) {
  return with_finding(flags, [&](Probing& probing) -> Result<bisect::Probe> {
    bisect::BoundaryOptions options;
    options.call = flags["call"].as<Count>().value;
    const auto result =
        bisect::find_boundary(probing.finding().plan, probing.spec(),
                              flags["dim"].as<std::string>(), probing.prober(), options);
    if (!result) return tl::unexpected(result.error());
    std::cout << (json_wanted(flags) ? report::boundary_json(probing.finding(), *result)
                                     : report::boundary_text(probing.finding(), *result));
    return result->base;
  });
}

class Bisect final : public Command {
 public:
  std::string_view name() const override { return "bisect"; }
  std::string_view synopsis() const override { return "redzone bisect ID [options]"; }
  std::string_view summary() const override {
    return "which setting of a finding matters: knobs, mode, dims, layouts, data, steps";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("dim", po::value<std::string>(),
                        "for which values of this dim it fails: the threshold, or the classes")(
        "call", po::value<Count>()->default_value({0}),
        "of which call --dim is, from 1 (0: of all where they agree, else of the last)")(
        "builds", po::value<std::vector<std::string>>()->multitoken(),
        "plugins or packages with the target, the oldest first: which is the first bad one?");
    add_probing_flags(flags, words);
  }
  Result<int> run(const po::variables_map& flags) override {
    watch_interrupts();
    const bool dim = flags.count("dim") != 0, builds = flags.count("builds") != 0;
    if (dim && builds) return usage_error("--dim and --builds are different questions");
    if (builds) return bisect_builds(flags);
    return dim ? bisect_dim(flags) : bisect_settings(flags, report::bisection_text);
  }
};

class Explain final : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view synopsis() const override { return "redzone explain ID [options]"; }
  std::string_view summary() const override {
    return "what a finding needs and what it does not depend on, each with the runs behind it";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    add_probing_flags(flags, words);
  }
  Result<int> run(const po::variables_map& flags) override {
    watch_interrupts();
    return bisect_settings(flags, report::explanation_text);
  }
};

}  // namespace

std::unique_ptr<Command> make_bisect() {
  return std::make_unique<Bisect>();
}
std::unique_ptr<Command> make_explain() {
  return std::make_unique<Explain>();
}

}  // namespace redzone::cli
