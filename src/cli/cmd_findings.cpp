// `redzone findings` and `redzone show`: print the contents of the store.

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "report/json.h"
#include "report/text.h"

namespace redzone::cli {
namespace {

class Findings final : public Command {
 public:
  std::string_view name() const override { return "findings"; }
  std::string_view synopsis() const override { return "redzone findings [options]"; }
  std::string_view summary() const override { return "list the findings of the store"; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    add_db_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override {
    RZ_TRY_ASSIGN(auto findings,
                  open_store(flags, store::OpenMode::read_only).and_then([](store::Store s) {
                    return s.findings();
                  }));
    out.print(json_wanted(flags) ? report::findings_json(findings, db_for_commands(flags))
                                 : report::findings_text(findings));
    return kOk;
  }
};

class Show final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view synopsis() const override { return "redzone show ID [options]"; }
  std::string_view summary() const override {
    return "show one finding with its plan, reliability, environment and attribution";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("id", po::value<std::string>()->required(), "finding number");
    words.add("id", 1);
    add_db_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override {
    RZ_TRY_ASSIGN(auto id, parse_id(flags["id"].as<std::string>()));
    RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
    RZ_TRY_ASSIGN(const auto finding, store.finding(id));
    RZ_TRY_ASSIGN(const auto artifacts, store.artifacts(id));
    const std::string db = db_for_commands(flags);
    out.print(json_wanted(flags) ? report::finding_json(finding, db, artifacts)
                                 : report::finding_text(finding, db, artifacts));
    return kOk;
  }
};

}  // namespace

std::unique_ptr<Command> make_findings() {
  return std::make_unique<Findings>();
}
std::unique_ptr<Command> make_show() {
  return std::make_unique<Show>();
}

}  // namespace redzone::cli
