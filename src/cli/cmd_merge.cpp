// `redzone merge`: merges the stores of several runners into one.
#include "store/merge.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "core/terminal.h"
#include "report/format.h"
#include "store/file_lock.h"
#include "store/upkeep.h"

namespace redzone::cli {
namespace {

class Merge final : public Command {
 public:
  std::string_view name() const override { return "merge"; }
  std::string_view synopsis() const override { return "redzone merge FILE... --into FILE"; }
  std::string_view summary() const override {
    return "merge campaigns, findings and ledgers of other stores; a repeated merge changes "
           "nothing";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("file", po::value<std::vector<std::string>>()->required(),
                        "stores to read")("into", po::value<std::string>()->required(),
                                          "store to merge into; created if missing");
    words.add("file", -1);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// The problem of an unsound store, as an error.
Result<void> require_sound(store::Store& store, const std::string& file) {
  RZ_TRY_ASSIGN(const auto wrong, store::check(store));
  if (wrong.empty()) return {};
  return unsound_error(
      fmt::format("{}: {} ('redzone db check' lists all problems)", file, wrong.front()));
}

Result<int> Merge::run(const po::variables_map& flags, Results& out) {
  const std::string into = flags["into"].as<std::string>();
  // All sources are checked before the first is merged, so that a damaged one changes nothing.
  std::vector<std::pair<std::string, store::Store>> sources;
  for (const auto& file : flags["file"].as<std::vector<std::string>>()) {
    std::error_code error;
    if (std::filesystem::equivalent(file, into, error))
      return usage_error(fmt::format("{}: cannot be merged into itself", file));
    RZ_TRY_ASSIGN(auto source, store::Store::open(file, store::OpenMode::read_only));
    RZ_TRY(require_sound(source, file));
    sources.emplace_back(file, std::move(source));
  }
  RZ_TRY_ASSIGN(auto target, store::Store::open(into, store::OpenMode::read_write_create));
  RZ_TRY_ASSIGN([[maybe_unused]] const auto lock, store::FileLock::take(into, "another job"));
  RZ_TRY(require_sound(target, into));
  for (auto& [file, source] : sources) {
    RZ_TRY_ASSIGN(const auto merged, store::merge(source, target));
    using report::counted;
    out.print(fmt::format("{}: {}, {}, {} with a better repro, {} of the ledger\n", printable(file),
                          counted(merged.campaigns, "new campaign"),
                          counted(merged.findings, "new finding"), merged.improved,
                          counted(merged.entries, "mark")));
  }
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_merge() {
  return std::make_unique<Merge>();
}

}  // namespace redzone::cli
