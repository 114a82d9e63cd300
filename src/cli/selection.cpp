#include "cli/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/flags.h"
#include "generators/no_call.h"

namespace redzone::cli {
namespace {

// The packages of --package are what is to be fuzzed, unless targets are named.
bool is_given_package(const TargetEntry& entry, const po::variables_map& flags) {
  if (!entry.is_package || flags.count("package") == 0) return false;
  const auto& given = flags["package"].as<std::vector<std::string>>();
  return std::find(given.begin(), given.end(), entry.plugin) != given.end();
}

// A package that is asked for, by name or by --package, where there is no device for it.
std::optional<Skipped> no_device_for(const TargetEntry& entry, const Session& session) {
  if (!entry.is_package || session.registry().find(entry.spec.name, session.device()) != nullptr)
    return std::nullopt;
  return Skipped{entry.spec.name,
                 fmt::format("its kernels are compiled for a GPU, and the device is {}",
                             name_of(session.device()))};
}

// Whether a target is one of those to fuzz where none is named. A package is, under the launch that
// was asked for.
bool is_wanted_unnamed(const TargetEntry& entry, const po::variables_map& flags) {
  const bool packages = flags.count("package") != 0, lazy = flags["lazy"].as<bool>();
  if (!flags["all"].as<bool>()) {
    if (packages && !is_given_package(entry, flags)) return false;
    if (entry.is_package ? entry.is_lazy != lazy : lazy) return false;
  }
  switch (entry.spec.category) {
    case Category::kernel:
      return true;
    case Category::puzzle:
      return flags["puzzles"].as<bool>();
    case Category::twin:
    case Category::selftest:
      break;
  }
  return false;
}

std::optional<std::string> cannot_fuzz(const TargetSpec& spec, const Session& session,
                                       const std::vector<store::Quarantined>& quarantined) {
  for (const auto& q : quarantined)
    if (q.signature.target == spec.name) return q.why;
  if (auto why = session.cannot_run(spec)) return why;
  return generators::why_no_call(spec);
}

}  // namespace

void add_selection_flags(po::options_description& flags,
                         po::positional_options_description& words) {
  flags.add_options()("target", po::value<std::vector<std::string>>(), "targets to fuzz")(
      "puzzles", po::bool_switch(), "fuzz the puzzles, too, where no target is named")(
      "lazy", po::bool_switch(),
      "packages under the launch that compiles, tunes and freezes on the first call")(
      "all", po::bool_switch(),
      "all kernels and packages, these under both launches, where no target is named");
  words.add("target", -1);
}

Result<Selection> select(const Session& session, const po::variables_map& flags,
                         const std::vector<store::Quarantined>& quarantined) {
  Selection out;
  std::vector<const TargetEntry*> wanted;
  const auto want = [&](const TargetEntry* entry) {
    if (std::find(wanted.begin(), wanted.end(), entry) == wanted.end()) wanted.push_back(entry);
  };
  const auto skip = [&](Skipped why) {
    if (std::find(out.skipped.begin(), out.skipped.end(), why) == out.skipped.end())
      out.skipped.push_back(std::move(why));
  };
  if (flags.count("target") != 0) {
    for (const auto& name : flags["target"].as<std::vector<std::string>>()) {
      const auto* package = session.registry().find(name, DeviceKind::cuda);
      if (package != nullptr)
        if (auto why = no_device_for(*package, session)) {
          skip(*why);
          continue;
        }
      auto entry = session.registry().require(name, session.device());
      if (!entry) return tl::unexpected(entry.error());
      want(*entry);
    }
  } else {
    const bool told = flags.count("package") != 0 || flags["all"].as<bool>();
    for (const auto& entry : session.registry().entries()) {
      if (!is_wanted_unnamed(entry, flags)) continue;
      if (session.registry().find(entry.spec.name, session.device()) == &entry)
        want(&entry);
      else if (auto why = no_device_for(entry, session); why && told)
        skip(*why);
    }
  }
  if (wanted.empty() && out.skipped.empty() && flags["lazy"].as<bool>())
    return usage_error("--lazy: there is no package to launch so; --package names one");
  for (const auto* entry : wanted) {
    if (auto why = cannot_fuzz(entry->spec, session, quarantined))
      out.skipped.push_back({entry->spec.name, *why});
    else
      out.targets.push_back(entry);
  }
  return out;
}

void add_force_flag(po::options_description& flags) {
  flags.add_options()("force", po::bool_switch(), "launch what is quarantined, too");
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
  const auto quarantined = forbidden(flags);
  if (!quarantined) return tl::unexpected(quarantined.error());
  for (const auto& q : *quarantined)
    if (q.signature.target == target)
      return usage_error(
          fmt::format("{}: {}; --force launches it all the same", q.signature.target, q.why));
  return {};
}

Result<Finding> allowed_finding(std::int64_t id, const po::variables_map& flags) {
  auto finding = open_store(flags, store::OpenMode::read_only).and_then([&](store::Store s) {
    return s.finding(id);
  });
  if (!finding) return finding;
  if (auto allowed = check_allowed(finding->plan.target, flags); !allowed)
    return tl::unexpected(allowed.error());
  return finding;
}

}  // namespace redzone::cli
