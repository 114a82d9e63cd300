// `redzone tma explain`: what is wrong with a TMA descriptor.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/tma_flags.h"
#include "report/tma.h"

namespace redzone::cli {
namespace {

class Tma final : public Command {
 public:
  std::string_view name() const override { return "tma"; }
  std::string_view synopsis() const override {
    return "redzone tma explain [FILE|-] [options]\n"
           "redzone tma explain --format TYPE --dim SIZES --stride BYTES --box SIZES [options]";
  }
  std::string_view summary() const override {
    return "what is wrong with a TMA descriptor: from a log with the block that was printed, or "
           "flags";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("do", po::value<std::string>(), "explain")(
        "file", po::value<std::string>(), "a log; '-' or nothing for standard input");
    words.add("do", 1).add("file", 1);
    add_descriptor_flags(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

// All of standard input, as read_file() does it with a file.
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
    if (!file.empty()) return usage_error("tma explain: a file or the flags of a descriptor");
    auto descriptor = descriptor_of(flags);
    if (!descriptor) return tl::unexpected(descriptor.error());
    tma::Explanation out;
    out.diagnoses.push_back(tma::diagnose(*descriptor));
    return out;
  }
  auto text = file.empty() || file == "-" ? read_input() : read_file(file);
  if (!text) return tl::unexpected(text.error());
  return tma::explain(*text);
}

Result<int> Tma::run(const po::variables_map& flags) {
  const std::string verb = flags.count("do") != 0 ? flags["do"].as<std::string>() : "";
  if (verb != "explain") return usage_error(fmt::format("tma: unknown '{}': explain", verb));
  const auto explanation = explained(flags);
  if (!explanation) return tl::unexpected(explanation.error());
  std::cout << (json_wanted(flags) ? report::explanation_json(*explanation)
                                   : report::explanation_text(*explanation));
  switch (report::verdict_of(*explanation)) {
    case tma::Verdict::clean:
      return kOk;
    case tma::Verdict::unreadable:
      return kUsage;
    default:
      return kFound;
  }
}

}  // namespace

std::unique_ptr<Command> make_tma() {
  return std::make_unique<Tma>();
}

}  // namespace redzone::cli
