// `redzone export`: writes findings as plan files that people can read, diff, edit and mail, or as
// programs that do not need Redzone.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/output.h"
#include "cli/program_commands.h"
#include "core/device_traits.h"
#include "core/log.h"
#include "core/read_file.h"
#include "core/repro.h"
#include "core/target_name.h"
#include "core/terminal.h"
#include "core/write_file.h"
#include "engine/origin.h"
#include "report/text.h"
#include "standalone/inline_sources.h"
#include "standalone/program.h"
#include "standalone/python_program.h"
#include "standalone/recording.h"

namespace redzone::cli {
namespace {

class Export final : public Command {
 public:
  std::string_view name() const override { return "export"; }
  std::string_view synopsis() const override { return "redzone export ID... --to DIR [options]"; }
  std::string_view summary() const override {
    return "write findings as plan files or as standalone CUDA or Python programs; findings of "
           "guarded programs as shell scripts";
  }
  void declare(po::options_description& flags,
               po::positional_options_description& words) const override {
    flags.add_options()("id", po::value<std::vector<std::string>>()->required(), "finding numbers")(
        "to", po::value<std::string>()->required(), "output folder; created if missing")(
        "standalone", po::bool_switch(),
        "write a self-contained .cu file that shows the failure, or a .py file for a Python "
        "target; needs --source, except for packages and Python")(
        "source", po::value<std::vector<std::string>>()->composing(),
        "file with the target's source; repeatable")(
        "include", po::value<std::vector<std::string>>()->composing(),
        "folder with headers that the source includes; repeatable")(
        "register", po::value<std::string>()->default_value(""),
        "function that registers the target, for a source without REDZONE_PLUGIN");
    words.add("id", -1);
    add_db_flag(flags);
    add_target_flags(flags);
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

// "puzzle.last_tile-redzone-1a2b3c4d": readable, and determined by the signature. Always a plain
// file name, because a store returns only valid target names.
std::string stem_of(const Finding& f) {
  RZ_CHECK(is_target_name(f.signature.target));
  return fmt::format("{}-{}-{}", f.signature.target, name_of(f.signature.kind),
                     f.signature.hash().substr(0, 8));
}

std::string comment_of(const Finding& f) {
  std::string out = fmt::format("{}\n{}", f.signature.text(), f.reason);
  if (f.reliability.n > 0)
    out += fmt::format("\nfailed {} of {} runs on {}{}", f.reliability.k, f.reliability.n,
                       f.environment.device,
                       f.environment.driver.empty() ? "" : ", driver " + f.environment.driver);
  return out;
}

std::optional<Reliability> measured(const Finding& f) {
  return f.reliability.k > 0 ? std::optional(f.reliability) : std::nullopt;
}

Result<std::string> inlined(const po::variables_map& flags, bool compiles_at_run_time) {
  if (flags.count("source") == 0)
    return usage_error("--standalone needs --source: the file with the target's source");
  std::vector<std::filesystem::path> folders;
  if (flags.count("include") != 0)
    for (const auto& folder : flags["include"].as<std::vector<std::string>>())
      folders.emplace_back(folder);
  standalone::SourceInliner inliner(folders, [](const std::filesystem::path& path) {
    std::error_code error;
    auto text =
        std::filesystem::is_regular_file(path, error) ? read_file(path) : usage_error("not a file");
    return text ? std::optional(std::move(*text)) : std::nullopt;
  });
  auto all = inliner.header(compiles_at_run_time ? "standalone/nvrtc.h" : "standalone/cuda.h");
  if (!all) return all;
  for (const auto& file : flags["source"].as<std::vector<std::string>>()) {
    auto text = inliner.file(file);
    if (!text) return text;
    *all += *text;
  }
  return all;
}

// For a package, which has no source: uses its cubins and the launches that its target makes.
Result<std::string> recorded(const Finding& f, const TargetEntry& entry) {
  if (entry.is_lazy)
    return usage_error(
        fmt::format("'{}' is a package under the lazily compiled launch, whose launches depend on "
                    "the calls before; only packages that launch as they are called are exported",
                    f.plan.target));
  auto launches = standalone::recorded_source({&f.plan, &entry.spec, entry.make, f.signature.kind});
  if (!launches) return launches;
  standalone::SourceInliner inliner({}, [](const std::filesystem::path&) { return std::nullopt; });
  auto all = inliner.header("standalone/cuda.h");
  if (!all) return all;
  auto target = inliner.header("standalone/recorded.h");
  if (!target) return target;
  return *all + *target + *launches;
}

// Takes the spec from any device, because plans are valid for all.
Result<const TargetEntry*> entry_of(const Registry& registry, const std::string& target) {
  if (const auto* entry = registry.find(target, standalone::kProgramDevice)) return entry;
  return registry.require_any(target);
}

// Redzone runs the calls in another order; a Python program runs each call separately.
std::string note_of(const Finding& f) {
  if (f.signature.kind != FailKind::history) return "";
  return "\nThis program compares with each call alone, so it may name another of these calls.";
}

// `db` as for report::replay_command().
Result<std::string> python_program_of(const Finding& f, const TargetEntry& entry,
                                      const std::string& db) {
  RZ_TRY_ASSIGN(auto source, read_file(entry.origin.path));
  // Empty for an imported plan, which has not run on any device.
  const std::string& device = f.environment.device;
  const bool on_gpu = !device.empty() && !traits_of_device(device).execution.on_host_cores;
  return standalone::python_program_text({.plan = &f.plan,
                                          .spec = &entry.spec,
                                          .signature = f.signature,
                                          .on_gpu = on_gpu,
                                          .comment = comment_of(f) + note_of(f),
                                          .replay = report::replay_command(f, db),
                                          .file = entry.origin.path,
                                          .source = std::move(source)});
}

struct File {
  std::string text;
  const char* suffix;
};

Result<File> program_of(const Finding& f, const Registry& registry,
                        const po::variables_map& flags) {
  const auto found = entry_of(registry, f.plan.target);
  if (!found) return tl::unexpected(engine::with_origin(found.error(), f.environment));
  const TargetEntry* const entry = *found;
  if (entry->origin.source == TargetSource::python) {
    RZ_TRY_ASSIGN(auto text, python_program_of(f, *entry, db_for_commands(flags)));
    return File{std::move(text), ".py"};
  }
  const TargetSpec& spec = entry->spec;
  RZ_TRY_ASSIGN(auto source,
                entry->is_package() ? recorded(f, *entry) : inlined(flags, spec.needs_nvrtc));
  const int capability = f.environment.compute_capability;
  const std::string arch = capability == 0 ? "native" : fmt::format("sm_{}", capability);
  const std::string name = stem_of(f);
  RZ_TRY_ASSIGN(
      auto text,
      standalone::program_text(
          {&f.plan, &spec, f.signature.kind,
           fmt::format(
               "{}\n\nBuild and run:\n  nvcc -std=c++20 -O2 --expt-relaxed-constexpr -arch={} "
               "-o {} {}.cu -lcuda{}\n  ./{}",
               comment_of(f), arch, name, name, spec.needs_nvrtc ? " -lnvrtc" : "", name),
           source, flags["register"].as<std::string>()}));
  return File{std::move(text), ".cu"};
}

// `registry` is null unless the file must show the failure without Redzone.
Result<File> file_of(const Finding& f, const Registry* registry, const po::variables_map& flags) {
  if (f.program && registry != nullptr)
    return usage_error("it is of a program, which --standalone cannot contain");
  if (f.program) {
    RZ_TRY_ASSIGN(auto script, program_script(f));
    return File{std::move(script), ".sh"};
  }
  if (registry != nullptr) return program_of(f, *registry, flags);
  return File{
      print_repro(
          {.plan = f.plan, .oracle = f.oracle, .signature = f.signature, .failed = measured(f)},
          comment_of(f)),
      ".toml"};
}

// Rejects flags that only --standalone uses.
Result<void> check_flags(const po::variables_map& flags) {
  if (flags["standalone"].as<bool>()) return {};
  for (const char* flag : {"source", "include", "register"})
    if (flags.count(flag) != 0 && !flags[flag].defaulted())
      return usage_error(fmt::format("--{} is for --standalone, which is missing", flag));
  return {};
}

Result<int> Export::run(const po::variables_map& flags, Results& out) {
  RZ_TRY_ASSIGN(auto store, open_store(flags, store::OpenMode::read_only));
  std::vector<Finding> findings;
  for (const auto& word : flags["id"].as<std::vector<std::string>>()) {
    RZ_TRY_ASSIGN(auto id, parse_id(word));
    RZ_TRY_ASSIGN(auto finding, store.finding(id));
    findings.push_back(std::move(finding));
  }
  RZ_TRY(check_flags(flags));
  const std::filesystem::path folder = flags["to"].as<std::string>();
  if (folder.empty()) return usage_error("--to is empty: name a folder");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return usage_error(fmt::format("{}: {}", folder.string(), error.message()));
  std::optional<Registry> registry;
  if (flags["standalone"].as<bool>()) {
    RZ_TRY_ASSIGN(auto loaded, load_registry(flags, findings.front().environment));
    registry = std::move(loaded);
  }
  std::optional<Error> refused;  // the first error; the others are warnings
  for (const auto& f : findings) {
    const auto file = file_of(f, registry ? &*registry : nullptr, flags);
    if (!file) {
      Error why{file.error().kind, fmt::format("finding {}: {}", f.id, file.error().message)};
      if (why.kind != ErrorKind::usage) return tl::unexpected(std::move(why));
      if (refused)
        log::warn("{}", why.message);
      else
        refused = std::move(why);
      continue;
    }
    const auto path = folder / (stem_of(f) + file->suffix);
    RZ_TRY(write_file(path, file->text));
    if (f.program)
      std::filesystem::permissions(path, std::filesystem::perms::owner_exec,
                                   std::filesystem::perm_options::add, error);
    out.print(fmt::format("{}\n", printable(path.string())));
  }
  if (refused) return tl::unexpected(std::move(*refused));
  return kOk;
}

}  // namespace

std::unique_ptr<Command> make_export() {
  return std::make_unique<Export>();
}

}  // namespace redzone::cli
