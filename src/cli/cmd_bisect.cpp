// `redzone bisect` and `redzone explain`: which setting is it?
#include <fmt/format.h>

#include <iostream>

#include "bisect/bisect.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/probing.h"
#include "report/bisect.h"

namespace redzone::cli {
namespace {

// Of a bisection that was made: 1 when it fails still, as for a replay.
int exit_code(const bisect::Bisection& b) {
  if (interrupted()) return kInterrupted;
  if (b.base.answer == bisect::Answer::fails) return kFound;
  return b.base.counts.judged() == 0 ? kNotJudged : kOk;
}

using Print = std::string (*)(const store::Finding&, const bisect::Bisection&);

Result<int> bisect_finding(const po::variables_map& flags, Print print) {
  watch_interrupts();
  auto opened = Probing::open(flags);
  if (!opened) return tl::unexpected(opened.error());
  Probing& probing = **opened;
  if (!probing.not_judged().empty()) {
    fmt::print(stderr, "not applicable: {}\n", probing.not_judged());
    return kNotJudged;
  }
  bisect::BisectOptions options;
  options.axes = probing.axes();
  const auto result =
      bisect::bisect(probing.finding().plan, probing.spec(), probing.prober(), options);
  if (const auto& problem = probing.prober().problem(); !problem)
    return tl::unexpected(problem.error());
  std::cout << (json_wanted(flags) ? report::bisection_json(probing.finding(), result)
                                   : print(probing.finding(), result));
  return exit_code(result);
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
    add_probing_flags(flags, words);
  }
  Result<int> run(const po::variables_map& flags) override {
    return bisect_finding(flags, report::bisection_text);
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
    return bisect_finding(flags, report::explanation_text);
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
