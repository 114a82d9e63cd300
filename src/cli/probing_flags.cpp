#include "cli/probing_flags.h"

#include <fmt/format.h>

#include "cli/engine_flags.h"
#include "cli/output.h"
#include "cli/selection_flags.h"

namespace redzone::cli {

void add_probing_flags(po::options_description& flags, po::positional_options_description& words) {
  flags.add_options()("id", po::value<std::string>()->required(), "finding number")(
      "time", po::value<std::string>()->default_value("2m"),
      "time limit; runs are stored, so a repeated command continues");
  words.add("id", 1);
  add_device_flag(flags);
  add_db_flag(flags);
  add_force_flag(flags);
  add_target_flags(flags);
  add_worker_flags(flags);
  add_json_flag(flags);
}

Result<std::chrono::steady_clock::time_point> end_of_time(const po::variables_map& flags) {
  RZ_TRY_ASSIGN(const auto time, duration_flag(flags, "time"));
  if (!time) return std::chrono::steady_clock::time_point::max();
  return std::chrono::steady_clock::now() + *time;
}

Result<std::unique_ptr<engine::Probing>> open_probing(
    const po::variables_map& flags, std::chrono::steady_clock::time_point until,
    const std::optional<std::filesystem::path>& build) {
  RZ_TRY_ASSIGN(const auto id, parse_id(flags["id"].as<std::string>()));
  RZ_TRY_ASSIGN(auto finding, allowed_target_finding(id, flags, "this command"));
  RZ_TRY_ASSIGN(auto options, rerun_options(flags, finding.environment));
  if (build) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(*build, error);
    options.plugins.clear();
    options.packages.clear();
    (folder ? options.packages : options.plugins).push_back(*build);
  }
  auto probing =
      engine::Probing::open(options, std::move(finding), flags["db"].as<std::string>(), until);
  if (probing && !(*probing)->other_code().empty()) print_note((*probing)->other_code());
  return probing;
}

Result<void> store_other(engine::Probing& probing, std::string_view what) {
  RZ_TRY_ASSIGN(const auto other, probing.store_other());
  if (other)
    print_note(fmt::format("{} also fails in another way: {}, stored as finding {}", what,
                           other->signature.text(), other->id));
  return {};
}

}  // namespace redzone::cli
