#include "guard/started.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "interpose/kept_variables.h"

namespace redzone::guard {
namespace {

// Removes and returns the text up to the next zero byte; removes the zero byte as well.
std::string_view take_text(std::string_view& bytes) {
  const auto end = bytes.find('\0');
  const std::string_view out = bytes.substr(0, end);
  bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
  return out;
}

bool is_kept(std::string_view name) {
  return std::find(std::begin(interpose::kKeptVariables), std::end(interpose::kKeptVariables),
                   name) != std::end(interpose::kKeptVariables);
}

}  // namespace

Started parse_started(std::string_view bytes) {
  Started out;
  out.folder = take_text(bytes);
  while (!bytes.empty()) {
    const std::string_view variable = take_text(bytes);
    if (variable.empty()) break;
    const auto equals = variable.find('=');
    // The process that wrote the file may have been damaged, so check the list of variables here,
    // too.
    if (equals == std::string_view::npos || !is_kept(variable.substr(0, equals))) continue;
    out.environment.push_back(
        {std::string(variable.substr(0, equals)), std::string(variable.substr(equals + 1))});
  }
  while (!bytes.empty()) out.argv.emplace_back(take_text(bytes));
  return out;
}

Started started_here(std::vector<std::string> argv, std::span<const std::string> more) {
  Started out;
  out.argv = std::move(argv);
  std::error_code ignored;  // a deleted folder has no name
  out.folder = std::filesystem::current_path(ignored).string();
  std::set<std::string> names(more.begin(), more.end());
  for (const std::string_view name : interpose::kKeptVariables) names.emplace(name);
  names.erase(std::string(kPreloadVariable));
  for (const auto& name : names) {
    if (const char* const value = std::getenv(name.c_str()))
      out.environment.push_back({name, value});
    else if (!is_kept(name))
      out.unset.push_back(name);
  }
  return out;
}

void set_variables(Started& started, std::span<const EnvironmentVariable> variables) {
  for (const auto& variable : variables) {
    std::erase_if(started.environment, [&](const auto& one) { return one.name == variable.name; });
    std::erase(started.unset, variable.name);
    started.environment.push_back(variable);
  }
}

std::vector<std::string> decisive_variables(const Started& started) {
  std::set<std::string> names;
  for (const std::string_view name : interpose::kKeptVariables) names.emplace(name);
  for (const auto& variable : started.environment) names.insert(variable.name);
  names.insert(started.unset.begin(), started.unset.end());
  return {names.begin(), names.end()};
}

}  // namespace redzone::guard
