#include "cli/selection_flags.h"

#include <fmt/format.h>

namespace redzone::cli {

void add_selection_flags(po::options_description& flags,
                         po::positional_options_description& words) {
  flags.add_options()("target", po::value<std::vector<std::string>>(),
                      "targets to fuzz, by name or pattern ('chunk_*'), and files of Python "
                      "targets (.py), of which "
                      "all are fuzzed")("puzzles", po::bool_switch(),
                                        "also fuzz the puzzles if no target is named")(
      "lazy", po::bool_switch(),
      "also test packages with a launcher that compiles and autotunes at the first call and "
      "reuses that choice")(
      "all", po::bool_switch(),
      "fuzz all kernels, and all packages under both launches, if no target is named");
  words.add("target", -1);
}

engine::SelectionOptions selection_options(const po::variables_map& flags) {
  engine::SelectionOptions options;
  if (flags.count("target") != 0)
    for (const auto& word : flags["target"].as<std::vector<std::string>>())
      if (!is_python_file(word)) options.targets.push_back(word);
  options.python = !python_paths(flags).empty();
  if (flags.count("package") != 0)
    options.packages = flags["package"].as<std::vector<std::string>>();
  options.puzzles = flags["puzzles"].as<bool>();
  options.lazy = flags["lazy"].as<bool>();
  options.all = flags["all"].as<bool>();
  return options;
}

void add_force_flag(po::options_description& flags) {
  flags.add_options()(
      "force", po::bool_switch(),
      "also launch quarantined targets and findings, and the programs of findings that came from "
      "another store with a merge");
}

Result<std::vector<store::Quarantined>> forbidden(const po::variables_map& flags) {
  std::error_code error;
  if (flags["force"].as<bool>() || !std::filesystem::exists(flags["db"].as<std::string>(), error))
    return std::vector<store::Quarantined>{};
  return open_store(flags, store::OpenMode::read_only).and_then([](store::Store s) {
    return s.quarantined();
  });
}

Result<void> check_allowed(std::string_view target, const po::variables_map& flags) {
  RZ_TRY_ASSIGN(const auto quarantined, forbidden(flags));
  for (const auto& q : quarantined)
    if (q.signature.target == target)
      return usage_error(
          fmt::format("{}: {}; --force launches it anyway", q.signature.target, q.why));
  return {};
}

Result<Finding> allowed_finding(std::int64_t id, const po::variables_map& flags) {
  auto finding = open_store(flags, store::OpenMode::read_only).and_then([&](store::Store s) {
    return s.finding(id);
  });
  if (!finding) return finding;
  RZ_TRY(check_allowed(finding->plan.target, flags));
  return finding;
}

Result<Finding> allowed_target_finding(std::int64_t id, const po::variables_map& flags,
                                       std::string_view what) {
  auto finding = allowed_finding(id, flags);
  if (finding && finding->program)
    return usage_error(
        fmt::format("finding {} is of a program, which {} cannot work on: only replay, bisect, "
                    "export and mark can",
                    id, what));
  return finding;
}

}  // namespace redzone::cli
