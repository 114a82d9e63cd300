// `redzone import`: imports plan files into the store.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/output.h"
#include "core/read_file.h"
#include "core/repro.h"
#include "core/terminal.h"
#include "core/validate.h"
#include "oracles/catalog.h"
#include "store/import.h"

namespace redzone::cli {
namespace {

class Import final : public Command {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view synopsis() const override { return "redzone import FILE... [options]"; }
  std::string_view summary() const override {
    return "import plan files with an [expect] table into the store, as suspects";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("file", po::value<std::vector<std::string>>()->required(), "plan files");
    words.add("file", -1);
    add_db_flag(flags);
    add_target_flags(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<Repro> load_repro(const std::string& file, const Registry& registry) {
  RZ_TRY_ASSIGN(auto text, read_file(file));
  auto repro = parse_repro(text, file);
  if (!repro) return repro;
  if (!repro->signature)
    return usage_error(fmt::format(
        "{}: no [expect] table, so this is a plan, not a finding; try 'redzone replay {}'", file,
        file));
  const auto entry = registry.require_any(repro->plan.target);
  if (!entry) return usage_error(fmt::format("{}: {}", file, entry.error().message));
  if (oracles::Catalog().find(repro->oracle) == nullptr)
    return usage_error(fmt::format("{}: [expect] unknown oracle '{}'", file, repro->oracle));
  complete(repro->plan, (*entry)->spec);
  RZ_TRY(validate(repro->plan, (*entry)->spec, file));
  return repro;
}

Result<int> Import::run(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(auto registry, load_registry(flags));
  // All files are read before the store is opened, so that an invalid file changes nothing.
  std::vector<std::pair<std::string, Repro>> repros;
  for (const auto& file : flags["file"].as<std::vector<std::string>>()) {
    RZ_TRY_ASSIGN(auto repro, load_repro(file, registry));
    repros.emplace_back(file, std::move(repro));
  }
  std::vector<Finding> findings;
  for (const auto& [file, repro] : repros) {
    Finding& f = findings.emplace_back();
    f.signature = *repro.signature;
    f.oracle = repro.oracle;
    f.reason = "imported from " + std::filesystem::path(file).filename().string();
    f.plan = f.original = repro.plan;
    f.reliability = repro.failed.value_or(Reliability{});
  }
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  RZ_TRY_ASSIGN(const auto recorded, store::record_all(store, findings));
  for (std::size_t i = 0; i < repros.size(); ++i)
    out.print(fmt::format("{}: finding {}{}\n", printable(repros[i].first), recorded[i].id,
                          recorded[i].is_new ? "" : " (known)"));
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_import() {
  return std::make_unique<Import>();
}

}  // namespace redzone::cli
