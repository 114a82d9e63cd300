// `redzone export`: findings as plan files that people can read, diff, edit and mail.
#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "cli/commands.h"
#include "cli/flags.h"
#include "core/repro.h"

namespace redzone::cli {
namespace {

class Export final : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view synopsis() const override { return "redzone export ID... --to DIR [options]"; }
  std::string_view summary() const override { return "write findings as plan files"; }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("id", po::value<std::vector<std::string>>()->required(), "finding numbers")(
        "to", po::value<std::string>()->required(), "folder; made when it is not there");
    words.add("id", -1);
    add_db_flag(flags);
  }
  Result<int> run(const po::variables_map& flags) override;
};

// "puzzle.last_tile-redzone-1a2b3c4d.toml": readable, and the same for the same signature.
std::string file_name(const store::Finding& f) {
  return fmt::format("{}-{}-{}.toml", f.signature.target, name_of(f.signature.kind),
                     f.signature.hash().substr(0, 8));
}

std::string comment_of(const store::Finding& f) {
  return fmt::format("{}\n{}\nfailed {} of {} runs on {}{}", f.signature.text(), f.reason,
                     f.reliability.k, f.reliability.n, f.environment.device,
                     f.environment.driver.empty() ? "" : ", driver " + f.environment.driver);
}

Result<int> Export::run(const po::variables_map& flags) {
  auto store = open_store(flags, store::OpenMode::read_only);
  if (!store) return tl::unexpected(store.error());
  std::vector<store::Finding> findings;
  for (const auto& word : flags["id"].as<std::vector<std::string>>()) {
    auto id = parse_id(word);
    if (!id) return tl::unexpected(id.error());
    auto finding = store->finding(*id);
    if (!finding) return tl::unexpected(finding.error());
    findings.push_back(std::move(*finding));
  }
  const std::filesystem::path folder = flags["to"].as<std::string>();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return usage_error(fmt::format("{}: {}", folder.string(), error.message()));
  for (const auto& f : findings) {
    const auto path = folder / file_name(f);
    std::ofstream out(path, std::ios::binary);
    out << print_repro({f.plan, f.oracle, f.signature}, comment_of(f));
    out.close();
    if (!out) return usage_error(fmt::format("{}: cannot be written", path.string()));
    std::cout << path.string() << "\n";
  }
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_export() {
  return std::make_unique<Export>();
}

}  // namespace redzone::cli
