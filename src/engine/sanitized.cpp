#include "engine/sanitized.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/plan_text.h"
#include "engine/tools.h"
#include "target/registry.h"

namespace redzone::engine {
namespace {

// Calls visit(word) for each plugin in the words of a command.
template <class Visit>
void for_each_plugin(const std::vector<std::string>& words, Visit visit) {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "--plugin") visit(words[i]);
}

bool has_checked_build(const std::string& plugin) {
  std::error_code error;
  return std::filesystem::exists(checked_build(plugin), error);
}

// The words of a worker command that runs checks; plugins without a build for checks are left out.
std::vector<std::string> checking(const std::vector<std::string>& words, SanitizerTool check) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--plugin") {
      out.push_back(words[i]);
    } else if (const std::string& plugin = words.at(++i); has_checked_build(plugin)) {
      out.insert(out.end(), {"--plugin", checked_build(plugin).string()});
    }
  }
  out.insert(out.end(), {"--checks", std::string(name_of(check))});
  return out;
}

}  // namespace

std::string SanitizedPools::problem_of_checks() const {
  if (!device_.tools.checks) return fmt::format("the {} device has no checks", device_.name);
  if (command_.argv.at(1) != "worker") return "kernels of Python files are not built for checks";
  bool any = false;
  std::string first;
  for_each_plugin(command_.argv, [&](const std::string& plugin) {
    any |= has_checked_build(plugin);
    if (first.empty()) first = checked_build(plugin).string();
  });
  if (any) return "";
  return fmt::format(
      "no plugin has a build for checks, as {} would be (`ninja -C build checked_plugins` makes "
      "those of the plugins that ship)",
      first);
}

std::string SanitizedPools::problem(SanitizerTool tool) const {
  if (is_check(tool)) return problem_of_checks();
  if (!device_.tools.compute_sanitizer)
    return fmt::format("compute-sanitizer cannot check the {} device", device_.name);
  if (command_.argv.at(1) != "worker") return "workers of Python files do not run under a tool";
  if (find_tool("compute-sanitizer").empty()) return "compute-sanitizer was not found";
  return "";
}

Result<std::unique_ptr<exec::Executor>> SanitizedPools::open(SanitizerTool tool) {
  if (auto why = problem(tool); !why.empty()) return harness_error(std::move(why));
  exec::PoolOptions options;
  options.command = command_;
  options.workers = 1;
  options.spares = 0;
  options.most_failed_starts = 2;
  options.interrupted = interrupted_;
  options.what = fmt::format("{} worker", name_of(tool));
  auto& argv = options.command.argv;
  if (is_check(tool)) {
    argv = checking(argv, tool);
    options.recycle_after_plans = device_.workers.recycle_after_plans;
    return std::make_unique<exec::Pool>(std::move(options));
  }
  if (logs_ == nullptr) {
    RZ_TRY_ASSIGN(auto logs, TemporaryFolder::create("sanitizer"));
    logs_ = std::make_unique<TemporaryFolder>(std::move(logs));
  }
  argv.at(1) = "sanitized-worker";
  argv.insert(argv.end(), {"--sanitizer", std::string(name_of(tool)), "--compute-sanitizer",
                           find_tool("compute-sanitizer"), "--logs", logs_->path().string()});
  // The tool inspects every module when the module is loaded.
  options.start_deadline = std::chrono::seconds(120);
  options.term_grace = std::chrono::seconds(1);
  return std::make_unique<exec::Pool>(std::move(options));
}

}  // namespace redzone::engine
