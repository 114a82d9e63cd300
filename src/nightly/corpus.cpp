#include "nightly/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/read_file.h"

namespace redzone::nightly {

Result<std::vector<CorpusPlan>> read_corpus(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return usage_error(fmt::format("--corpus: {} is not a folder", folder.string()));
  std::vector<CorpusPlan> plans;
  auto walk = std::filesystem::recursive_directory_iterator(folder, error);
  for (; !error && walk != std::filesystem::recursive_directory_iterator(); walk.increment(error)) {
    if (walk->path().extension() != ".toml") continue;
    CorpusPlan& plan = plans.emplace_back();
    plan.name = walk->path().lexically_relative(folder).generic_string();
    plan.file = walk->path().string();
    if (!walk->is_regular_file(error)) {
      plan.problem = plan.file + ": is not a file";  // opening a pipe would block forever
      error.clear();  // clears the error of a dangling link, for example
      continue;
    }
    auto repro = read_file(plan.file).and_then(
        [&](const std::string& text) { return parse_repro(text, plan.file); });
    if (repro)
      plan.repro = std::move(*repro);
    else
      plan.problem = repro.error().message;
  }
  if (error) return usage_error(fmt::format("--corpus: {}: {}", folder.string(), error.message()));
  if (plans.empty())
    return usage_error(fmt::format("--corpus: {} contains no plan (*.toml)", folder.string()));
  std::sort(plans.begin(), plans.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return plans;
}

Result<void> check_targets(std::span<const CorpusPlan> plans, const Registry& registry) {
  for (const auto& plan : plans) {
    if (!plan.problem.empty()) continue;
    if (const auto entry = registry.require_any(plan.repro.plan.target); !entry)
      return usage_error(fmt::format("--corpus: {}: {}", plan.file, entry.error().message));
  }
  return {};
}

}  // namespace redzone::nightly
