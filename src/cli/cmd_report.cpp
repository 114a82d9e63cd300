// `redzone report`: reports a night from the store in any format.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/output.h"
#include "core/write_file.h"
#include "nightly/describe.h"
#include "nightly/tables.h"
#include "report/night_formats.h"

namespace redzone::cli {
namespace {

std::string format_names() {
  std::vector<std::string_view> names;
  for (const auto& format : report::night_formats()) names.push_back(format.name);
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<report::NightFormat> format_named(std::string_view name) {
  for (const auto& format : report::night_formats())
    if (format.name == name) return format;
  return usage_error(
      fmt::format("--format: unknown '{}', expected one of {}", name, format_names()));
}

class Report final : public Command {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view synopsis() const override { return "redzone report [options]"; }
  std::string_view summary() const override {
    return "print a stored night in any format, with the bisections made since";
  }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    flags.add_options()("format", po::value<std::string>()->default_value("text"),
                        format_names().c_str())(
        "night", po::value<std::string>(), "campaign number of the night (default: the latest)")(
        "out", po::value<std::string>(), "output file (default: standard output)");
    add_db_flag(flags);
    add_target_flags(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<report::Night> described(const po::variables_map& flags, store::Store& store) {
  RZ_TRY_ASSIGN(auto id, flags.count("night") != 0 ? parse_night(flags["night"].as<std::string>())
                                                   : nightly::latest_night(store));
  RZ_TRY_ASSIGN(auto registry, load_registry(flags));
  const std::string db = db_for_commands(flags);
  auto night = nightly::describe_night(store, id, {.db = db, .registry = &registry});
  if (!night) return night;
  RZ_TRY(nightly::add_bisections(*night, store, registry));
  return night;
}

Result<int> Report::run(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(const auto format, format_named(flags["format"].as<std::string>()));
  if (flags.count("out") != 0)
    for (const char* part : {"", "-wal", "-shm"}) {  // the store and SQLite's files beside it
      std::error_code error;
      const auto& given = flags["out"].as<std::string>();
      if (std::filesystem::equivalent(given, flags["db"].as<std::string>() + part, error))
        return usage_error(fmt::format("--out: {} is the store", given));
    }
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
  RZ_TRY_ASSIGN(const auto night, described(flags, store));
  const std::string text = format.write(night);
  if (flags.count("out") == 0) {
    out.print(text);
    return kOk;
  }
  if (auto written = write_file(flags["out"].as<std::string>(), text); !written)
    return tl::unexpected(
        Error{written.error().kind, "--out: " + std::move(written).error().message});
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_report() {
  return std::make_unique<Report>();
}

}  // namespace redzone::cli
