// `redzone bisect` and `redzone explain`: finds the settings on which a finding depends.
#include <fmt/format.h>

#include "bisect/between.h"
#include "bisect/bisect.h"
#include "bisect/boundary.h"
#include "cli/bisect_builds.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/probing_flags.h"
#include "cli/program_commands.h"
#include "cli/selection_flags.h"
#include "core/read_file.h"
#include "core/repro.h"
#include "core/validate.h"
#include "report/bisect.h"
#include "report/bisect_between.h"

namespace redzone::cli {
namespace {

// 1 if the plan still fails, with the recorded signature or another, as for a replay.
int exit_code_of_base(const bisect::Probe& base) {
  if (interrupted()) return kInterrupted;
  return exit_code_of(base.counts.result());
}

// Opens the finding of --id and prints the result of `ask`, which returns the probe of the
// finding's own plan.
template <class Ask>
Result<int> with_finding(const po::variables_map& flags, Ask ask) {
  RZ_TRY_ASSIGN(auto until, end_of_time(flags));
  RZ_TRY_ASSIGN(auto opened, open_probing(flags, until));
  engine::Probing& probing = *opened;
  if (!probing.not_judged().empty()) {
    print_note(fmt::format("not applicable: {}", probing.not_judged()));
    return kNotJudged;
  }
  RZ_TRY_ASSIGN(const auto base, ask(probing));
  RZ_TRY(probing.prober().problem());
  RZ_TRY(store_other(probing, "it"));
  return exit_code_of_base(base);
}

using Print = std::string (*)(const Finding&, const bisect::Bisection&);

Result<int> bisect_settings(const po::variables_map& flags, Results& out, Print print) {
  return with_finding(flags, [&](engine::Probing& probing) -> Result<bisect::Probe> {
    bisect::BisectOptions options;
    options.axes = probing.axes();
    const auto result =
        bisect::bisect(probing.finding().plan, probing.spec(), probing.prober(), options);
    out.print(json_wanted(flags) ? report::bisection_json(probing.finding(), result)
                                 : print(probing.finding(), result));
    return result.base;
  });
}

Result<int> bisect_dim(const po::variables_map& flags, Results& out) {
  return with_finding(flags, [&](engine::Probing& probing) -> Result<bisect::Probe> {
    bisect::BoundaryOptions options;
    options.call = flags["call"].as<Count>().value;
    options.axes = probing.axes();
    RZ_TRY_ASSIGN(const auto result,
                  bisect::find_boundary(probing.finding().plan, probing.spec(),
                                        flags["dim"].as<std::string>(), probing.prober(), options));
    out.print(json_wanted(flags) ? report::boundary_json(probing.finding(), result)
                                 : report::boundary_text(probing.finding(), result));
    return result.base;
  });
}

// The passing plan must be for the same target; knobs that it omits have their defaults.
Result<int> bisect_between(const po::variables_map& flags, Results& out) {
  const auto& file = flags["passing"].as<std::string>();
  RZ_TRY_ASSIGN(auto text, read_file(file));
  RZ_TRY_ASSIGN(auto passing, parse_repro(text, file));
  return with_finding(flags, [&](engine::Probing& probing) -> Result<bisect::Probe> {
    complete(passing.plan, probing.spec());
    RZ_TRY(validate(passing.plan, probing.spec(), file));
    RZ_TRY_ASSIGN(const auto result, bisect::bisect_between(probing.finding().plan, passing.plan,
                                                            probing.spec(), probing.prober()));
    out.print(json_wanted(flags) ? report::between_json(probing.finding(), result)
                                 : report::between_text(probing.finding(), result));
    return result.failing;
  });
}

class Bisect final : public Command {
 public:
  std::string_view name() const override { return "bisect"; }
  std::string_view synopsis() const override { return "redzone bisect ID [options]"; }
  std::string_view summary() const override {
    return "find which settings a finding depends on: knobs, mode, dims, layouts, data, steps; "
           "for a guarded program, the guard's settings";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()(
        "passing", po::value<std::string>(),
        "plan file with the same steps that passes: find the differences that matter")(
        "dim", po::value<std::string>(),
        "find the values of this dim that fail: a threshold, or classes")(
        "call", po::value<Count>()->default_value({0}),
        "the call whose dim is searched, from 1 (0: all calls if they agree, else the last)")(
        "builds", po::value<std::vector<std::string>>()->multitoken(),
        "plugins or packages with the target, the oldest first: find the first bad one");
    add_probing_flags(flags, words);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override {
    watch_interrupts();
    const bool dim = flags.count("dim") != 0, builds = flags.count("builds") != 0;
    const bool passing = flags.count("passing") != 0;
    if (dim + builds + passing > 1)
      return usage_error("--passing, --dim and --builds cannot be combined: give one of them");
    RZ_TRY_ASSIGN(const auto id, parse_id(flags["id"].as<std::string>()));
    RZ_TRY_ASSIGN(auto finding, allowed_finding(id, flags));
    if (finding.program) return bisect_program(flags, out, std::move(finding));
    if (builds) return bisect_builds(flags, out);
    if (passing) return bisect_between(flags, out);
    return dim ? bisect_dim(flags, out) : bisect_settings(flags, out, report::bisection_text);
  }
};

class Explain final : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view synopsis() const override { return "redzone explain ID [options]"; }
  std::string_view summary() const override {
    return "show what a finding needs and what it does not depend on, each with its runs";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    add_probing_flags(flags, words);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override {
    watch_interrupts();
    return bisect_settings(flags, out, report::explanation_text);
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
