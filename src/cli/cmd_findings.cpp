// `redzone findings` and `redzone show`: print the contents of the store.

#include <fmt/format.h>

#include <optional>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "core/device_traits.h"
#include "engine/origin.h"
#include "report/json.h"
#include "report/tensors.h"
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

// The tensors of the finding's plan, by the target's spec for the device where the finding was
// seen.
Result<std::vector<PlanTensor>> tensors_of_finding(const Finding& finding,
                                                   const po::variables_map& flags) {
  const std::string where = fmt::format("finding {}", finding.id);
  if (finding.program) return usage_error(where + ": it is of a program, which has no tensors");
  RZ_TRY_ASSIGN(const auto registry, load_registry(flags, finding.environment));
  const std::string& name = finding.plan.target;
  const DeviceKind device = traits_of_device(finding.environment.device).kind;
  auto entry = registry.require_any(name);
  if (const TargetEntry* const here = registry.find(name, device)) entry = here;
  if (!entry) {
    Error error = engine::with_origin(entry.error(), finding.environment);
    error.message = fmt::format("{}: {}", where, error.message);
    return tl::unexpected(std::move(error));
  }
  return tensors_of(finding.plan, (*entry)->spec, where);
}

// True if --tensors is given, or a flag that names the target's code.
bool tensors_wanted(const po::variables_map& flags) {
  const auto was_given = [&](const char* flag) { return flags.count(flag) != 0; };
  return flags["tensors"].as<bool>() || was_given("plugin") || was_given("package") ||
         was_given("python-file") || was_given("python");
}

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
    flags.add_options()("tensors", po::bool_switch(),
                        "also print shapes, strides and sizes of the tensors of each call, by the "
                        "spec of the target; also with --plugin, --package or --python-file");
    add_db_flag(flags);
    add_json_flag(flags);
    add_target_flags(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override {
    RZ_TRY_ASSIGN(auto id, parse_id(flags["id"].as<std::string>()));
    RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
    RZ_TRY_ASSIGN(const auto finding, store.finding(id));
    RZ_TRY_ASSIGN(const auto artifacts, store.artifacts(id));
    const std::string db = db_for_commands(flags);
    std::optional<Result<std::vector<PlanTensor>>> tensors;
    if (tensors_wanted(flags)) tensors = tensors_of_finding(finding, flags);
    const bool has_tensors = tensors && *tensors;
    if (json_wanted(flags)) {
      if (tensors && !*tensors) return tl::unexpected(tensors->error());
      out.print(report::finding_json(finding, db, artifacts, has_tensors ? &**tensors : nullptr));
      return kOk;
    }
    out.print(report::finding_text(finding, db, artifacts));
    if (has_tensors) out.print(report::tensors_text(**tensors));
    if (tensors && !*tensors) return tl::unexpected(tensors->error());
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
