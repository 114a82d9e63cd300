// `redzone mark`: sets the standing of a finding.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "core/names.h"
#include "report/json.h"

namespace redzone::cli {
namespace {

class Mark final : public Command {
 public:
  std::string_view name() const override { return "mark"; }
  std::string_view synopsis() const override {
    return "redzone mark ID known|quarantined|new [options]";
  }
  std::string_view summary() const override {
    return "mark a finding: known (waived, with a link), quarantined (never launched), new "
           "(neither)";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("id", po::value<std::string>()->required(), "finding number")(
        "as", po::value<std::string>()->required(), "known, quarantined or new")(
        "link", po::value<std::string>()->default_value(""),
        "link to the bug report, https://...; required for a waiver")(
        "reason", po::value<std::string>()->default_value(""), "one line");
    words.add("id", 1).add("as", 1);
    add_db_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<LedgerEvent> parse_mark(const std::string& text) {
  static constexpr std::array kMarks{std::pair{LedgerEvent::known, "known"},
                                     std::pair{LedgerEvent::quarantined, "quarantined"},
                                     std::pair{LedgerEvent::fresh, "new"}};
  return value_in(kMarks, text, "mark");
}

Result<int> Mark::run(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(const auto id, parse_id(flags["id"].as<std::string>()));
  RZ_TRY_ASSIGN(const auto event, parse_mark(flags["as"].as<std::string>()));
  // Opened read-only first, so that a mistyped number creates no store.
  RZ_TRY_ASSIGN(const auto known,
                open_store(flags, store::OpenMode::read_only).and_then([&](store::Store s) {
                  return s.finding(id);
                }));
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_write_create));
  RZ_TRY_ASSIGN(const auto ledger, store.mark(id, {"", event, flags["link"].as<std::string>(),
                                                   flags["reason"].as<std::string>()}));
  RZ_TRY_ASSIGN(const auto finding, store.finding(id));
  out.print(json_wanted(flags) ? report::finding_json(finding, db_for_commands(flags))
                               : fmt::format("finding {} is {}: {}\n", id, name_of(ledger.standing),
                                             finding.signature.text()));
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_mark() {
  return std::make_unique<Mark>();
}

}  // namespace redzone::cli
