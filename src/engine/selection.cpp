#include "engine/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/name_pattern.h"
#include "generators/no_call.h"

namespace redzone::engine {
namespace {

// True if the user gave the entry's package.
bool is_given_package(const TargetEntry& entry, const SelectionOptions& options) {
  const auto& given = options.packages;
  return entry.is_package() &&
         std::find(given.begin(), given.end(), entry.origin.path) != given.end();
}

// Returns the reason for skipping a named or given package for which there is no device.
std::optional<Skipped> no_device_for(const TargetEntry& entry, const Site& site) {
  if (!entry.is_package() || site.registry().find(entry.spec.name, site.device()) != nullptr)
    return std::nullopt;
  return Skipped{
      entry.spec.name,
      fmt::format("its kernels are compiled for a GPU, and the device is {}", site.traits().name)};
}

// True if a target is fuzzed when no target is named. A package is fuzzed under the requested
// launch.
bool is_wanted_unnamed(const TargetEntry& entry, const SelectionOptions& options) {
  if (options.python && entry.origin.source == TargetSource::python)
    return entry.spec.category != Category::selftest;
  if (!options.all) {
    if (options.python && options.packages.empty()) return false;
    if (!options.packages.empty() && !is_given_package(entry, options)) return false;
    if (entry.is_package() ? entry.is_lazy != options.lazy : options.lazy) return false;
  }
  switch (entry.spec.category) {
    case Category::kernel:
      return true;
    case Category::puzzle:
      return options.puzzles;
    case Category::twin:
    case Category::selftest:
      break;
  }
  return false;
}

// The targets of the device whose names match the pattern. Matching names without a target for the
// device are skipped.
Result<Selection> fitting(const std::string& pattern, const Site& site) {
  Selection out;
  for (const auto& entry : site.registry().entries()) {
    const std::string& name = entry.spec.name;
    if (!fits(pattern, name, entry.spec.category)) continue;
    const TargetEntry* const here = site.registry().find(name, site.device());
    if (here == &entry)
      out.targets.push_back(&entry);
    else if (auto why = no_device_for(entry, site))
      out.skipped.push_back(std::move(*why));
    else if (here == nullptr)
      out.skipped.push_back(
          {name, fmt::format("it has no build for the device {}", site.traits().name)});
  }
  if (out.targets.empty())
    return usage_error(fmt::format("no target for the device {} has a name like '{}'",
                                   site.traits().name, pattern));
  return out;
}

Result<std::optional<std::string>> cannot_fuzz(const TargetEntry& entry, const Site& site,
                                               const std::vector<store::Quarantined>& quarantined) {
  const TargetSpec& spec = entry.spec;
  if (entry.origin.source == TargetSource::python && !site.traits().execution.runs_kernels)
    return "it is Python code, of which a dry run can leave nothing out";
  for (const auto& q : quarantined)
    if (q.signature.target == spec.name) return q.why;
  if (auto why = site.cannot_run(spec)) return why;
  // A call may use half of the memory; the other half is for the surroundings of tensors and for
  // memory that the target allocates itself.
  const auto memory = static_cast<double>(site.worker().memory_bytes);  // 0: not known
  const double most_bytes = memory > 0 ? memory / 2 : std::numeric_limits<double>::infinity();
  return generators::why_no_call(spec, site.registry().spec_calls(), most_bytes);
}

// A stale or forgotten build must not look as if its targets had been checked.
Result<void> require_checked_build(const TargetEntry& entry, SanitizerTool tool) {
  if (!is_check(tool) || entry.origin.source != TargetSource::plugin || entry.origin.path.empty())
    return {};
  const std::string why = problem_of_checked_build(checked_build(entry.origin.path));
  if (why.empty()) return {};
  return usage_error(fmt::format("--checks: {}: {}", entry.spec.name, why));
}

}  // namespace

Result<Selection> select(const Site& site, const SelectionOptions& options,
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
  if (!options.targets.empty()) {
    for (const auto& name : options.targets) {
      if (is_pattern(name)) {
        RZ_TRY_ASSIGN(const auto all, fitting(name, site));
        for (const auto* entry : all.targets) want(entry);
        for (const auto& why : all.skipped) skip(why);
        continue;
      }
      const auto all = site.registry().named(name);
      if (!all.empty())
        if (auto why = no_device_for(all.front(), site)) {
          skip(*why);
          continue;
        }
      RZ_TRY_ASSIGN(auto entry, site.registry().require(name, site.device()));
      want(entry);
    }
  } else {
    const bool told = !options.packages.empty() || options.python || options.all;
    for (const auto& entry : site.registry().entries()) {
      if (!is_wanted_unnamed(entry, options)) continue;
      if (site.registry().find(entry.spec.name, site.device()) == &entry)
        want(&entry);
      else if (auto why = no_device_for(entry, site); why && told)
        skip(*why);
    }
  }
  if (wanted.empty() && out.skipped.empty() && options.lazy)
    return usage_error("--lazy: there is no package to launch; add one with --package");
  for (const auto* entry : wanted) {
    RZ_TRY(require_checked_build(*entry, options.tool));
    RZ_TRY_ASSIGN(const auto why, cannot_fuzz(*entry, site, quarantined));
    if (why)
      out.skipped.push_back({entry->spec.name, *why});
    else
      out.targets.push_back(entry);
  }
  return out;
}

Result<void> check_names(const Registry& registry, const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (!is_pattern(word)) {
      RZ_TRY(registry.require_any(word));
      continue;
    }
    const auto& all = registry.entries();
    if (std::none_of(all.begin(), all.end(), [&](const TargetEntry& entry) {
          return fits(word, entry.spec.name, entry.spec.category);
        }))
      return usage_error(fmt::format("no target has a name like '{}'", word));
  }
  return {};
}

}  // namespace redzone::engine
