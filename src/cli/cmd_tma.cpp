// `redzone tma explain`: explains what is wrong with a TMA descriptor. `redzone tma agree`:
// compares the checker with the driver.
#include <fmt/format.h>

#include <iostream>

#include <iterator>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/tma_flags.h"
#include "core/read_file.h"
#include "device/tensor_map.h"
#include "generators/descriptor_simplify.h"
#include "generators/descriptors.h"
#include "report/tma.h"
#include "report/tma_agreement.h"

namespace redzone::cli {
namespace {

class Tma final : public Command {
 public:
  std::string_view name() const override { return "tma"; }
  std::string_view synopsis() const override {
    return "redzone tma explain [FILE|-] [options]\n"
           "redzone tma explain --format TYPE --dim SIZES --stride BYTES --box SIZES [options]\n"
           "redzone tma agree [--count N] [--seed S] [options]";
  }
  std::string_view summary() const override {
    return "explain: find what is wrong with a TMA descriptor, from a log or from flags; "
           "agree: compare the rules with the driver";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("do", po::value<std::string>()->required(), "explain or agree")(
        "file", po::value<std::string>(), "explain: log file; '-' or none: standard input")(
        "count", po::value<Count>()->default_value(Count{1000000}),
        "agree: number of descriptors to compare")(
        "seed", po::value<Count>()->default_value(Count{1}), "agree: seed of the descriptors");
    words.add("do", 1).add("file", 1);
    add_descriptor_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// Reads all of standard input, with the size limit of read_file().
Result<std::string> read_input() {
  constexpr std::size_t most = std::size_t{64} << 20;
  std::string text(most + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > most) return usage_error("tma explain: more than 64 MiB on standard input");
  return text;
}

Result<tma::Explanation> explained(const po::variables_map& flags) {
  const std::string file = flags.count("file") != 0 ? flags["file"].as<std::string>() : "";
  if (descriptor_given(flags)) {
    if (!file.empty())
      return usage_error("tma explain: give either a file or the flags of a descriptor");
    RZ_TRY_ASSIGN(auto descriptor, descriptor_of(flags));
    tma::Explanation out;
    out.diagnoses.push_back(tma::diagnose(descriptor));
    return out;
  }
  RZ_TRY_ASSIGN(auto text, file.empty() || file == "-" ? read_input() : read_file(file));
  return tma::explain(text);
}

Result<int> run_explain(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(const auto explanation, explained(flags));
  out.print(json_wanted(flags) ? report::explanation_json(explanation)
                               : report::explanation_text(explanation));
  switch (report::verdict_of(explanation)) {
    case tma::Verdict::clean:
      return kOk;
    case tma::Verdict::unreadable:
      return kUsage;
    default:
      return kFound;
  }
}

// The only command that creates a context in its own process, because it starts no workers.
Result<int> run_agree(const po::variables_map& flags, Results& out) {
  const auto count = flags["count"].as<Count>().value, seed = flags["seed"].as<Count>().value;
  if (count == 0) return usage_error("tma agree: --count: must be at least 1");
  if (flags.count("file") != 0 || descriptor_given(flags))
    return usage_error(
        "tma agree: generates its own descriptors: only --count, --seed and --json are allowed");
  auto encoder = device::open_tensor_map_encoder();
  if (!encoder) {
    print_note(fmt::format("redzone: tma agree: not judged: {}", encoder.error().detail));
    return kNotJudged;
  }
  watch_interrupts();
  generators::DescriptorGenerator generator(seed);
  tma::AgreementSetup setup;
  setup.count = count;
  setup.compute_capability = (*encoder)->compute_capability();
  setup.next = [&] { return generator.next().descriptor; };
  setup.encode = [&](const tma::Descriptor& d) { return (*encoder)->encode(d); };
  setup.reduce = [](const tma::Descriptor& found, const auto& predicate) {
    return generators::smallest_descriptor(found, predicate);
  };
  setup.stop = [] { return interrupted(); };
  RZ_TRY_ASSIGN(auto agreement, tma::compare(setup));
  const report::AgreementRun run{(*encoder)->device_name(), (*encoder)->driver_version(), seed,
                                 std::move(agreement)};
  out.print(json_wanted(flags) ? report::agreement_json(run) : report::agreement_text(run));
  if (run.agreement.stopped && interrupted()) return kInterrupted;
  return run.agreement.disagreed == 0 ? kOk : kFound;
}

Result<int> Tma::run(const po::variables_map& flags, Results& out) {
  const auto& verb = flags["do"].as<std::string>();
  if (verb == "explain") return run_explain(flags, out);
  if (verb == "agree") return run_agree(flags, out);
  return usage_error(fmt::format("tma: unknown action '{}': must be explain or agree", verb));
}

}  // namespace

std::unique_ptr<Command> make_tma() {
  return std::make_unique<Tma>();
}

}  // namespace redzone::cli
