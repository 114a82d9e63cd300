// `redzone db`: maintenance of a store.
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "core/names.h"
#include "engine/program_findings.h"
#include "report/json.h"
#include "report/upkeep.h"
#include "store/file_lock.h"
#include "store/read_limit.h"
#include "store/upkeep.h"

namespace redzone::cli {
namespace {

constexpr std::uint64_t kMostDays = 36500;

class Db final : public Command {
 public:
  std::string_view name() const override { return "db"; }
  std::string_view synopsis() const override {
    return "redzone db stats|check|prune|copy [options]";
  }
  std::string_view summary() const override {
    return "show statistics of the store, check it, remove old entries, copy it";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("do", po::value<std::string>()->required(), "stats, check, prune or copy")(
        "keep-days", po::value<Count>(),
        "prune: remove entries older than this, except what was confirmed or marked")(
        "to", po::value<std::string>(),
        "copy: file to write; an existing one is replaced only if the store has all of its "
        "entries");
    words.add("do", 1);
    add_db_flag(flags);
    add_json_flag(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<int> prune(const po::variables_map& flags, Results& out) {
  if (flags.count("keep-days") == 0)
    return usage_error("db prune: --keep-days is missing; see 'redzone db --help'");
  const std::uint64_t days = flags["keep-days"].as<Count>().value;
  if (days > kMostDays)
    return usage_error(fmt::format("db prune: --keep-days: must be in 0..{}", kMostDays));
  // Checked first, so that a mistyped name creates no store, and no lock beside a file that is not
  // a store. A store that is too large to be read can still be pruned.
  std::error_code error;
  const auto bytes = std::filesystem::file_size(flags["db"].as<std::string>(), error);
  if (error || std::cmp_less_equal(bytes, store::kMostReadBytes))
    RZ_TRY(open_store(flags, store::OpenMode::read_only));
  RZ_TRY_ASSIGN([[maybe_unused]] const auto lock,
                store::FileLock::take(flags["db"].as<std::string>(), "another job"));
  RZ_TRY_ASSIGN(auto pruned,
                open_store(flags, store::OpenMode::read_write_create).and_then([&](store::Store s) {
                  return store::prune(s, static_cast<std::int64_t>(days));
                }));
  out.print(json_wanted(flags) ? report::pruned_json(pruned) : report::pruned_text(pruned));
  return kOk;
}

Result<int> check(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(auto wrong, store::check(flags["db"].as<std::string>()));
  if (wrong.empty()) {
    RZ_TRY_ASSIGN(wrong, open_store(flags, store::OpenMode::read_only).and_then([](store::Store s) {
      return engine::problems_of_programs(s);
    }));
  }
  out.print(json_wanted(flags) ? report::check_json(wrong) : report::check_text(wrong));
  return wrong.empty() ? kOk : kUnsound;
}

Result<int> copy(const po::variables_map& flags, Results& out) {
  if (flags.count("to") == 0)
    return usage_error("db copy: --to is missing; see 'redzone db --help'");
  const std::string to = flags["to"].as<std::string>();
  std::optional<store::FileLock> lock;
  if (std::error_code ignored; std::filesystem::exists(to, ignored)) {
    RZ_TRY_ASSIGN(auto taken, store::FileLock::take(to, "another job"));
    lock.emplace(std::move(taken));
  }
  RZ_TRY_ASSIGN(const auto wrong, store::copy_store(flags["db"].as<std::string>(), to));
  out.print(json_wanted(flags) ? report::copied_json(to, wrong) : report::copied_text(to, wrong));
  return wrong.empty() ? kOk : kUnsound;
}

Result<int> stats(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(const auto contents,
                open_store(flags, store::OpenMode::read_only).and_then([](store::Store s) {
                  return store::contents(s);
                }));
  out.print(json_wanted(flags) ? report::contents_json(contents) : report::contents_text(contents));
  return kOk;
}

Result<int> Db::run(const po::variables_map& flags, Results& out) {
  using Action = Result<int> (*)(const po::variables_map&, Results&);
  static constexpr std::array<std::pair<Action, const char*>, 4> kActions{
      std::pair{&stats, "stats"}, std::pair{&check, "check"}, std::pair{&prune, "prune"},
      std::pair{&copy, "copy"}};
  const std::string& name = flags["do"].as<std::string>();
  RZ_TRY_ASSIGN(const auto action, value_in(kActions, name, "action"));
  const std::array<FlagOfActions, 2> of_actions{{{"keep-days", {"prune"}}, {"to", {"copy"}}}};
  RZ_TRY(check_flags_of("db", name, flags, of_actions));
  return action(flags, out);
}

}  // namespace

std::unique_ptr<Command> make_db() {
  return std::make_unique<Db>();
}

}  // namespace redzone::cli
