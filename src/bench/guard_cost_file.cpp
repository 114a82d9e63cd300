// Parses JSON: a line of a program, and the table of a result.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/guard_cost.h"

namespace redzone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMib = 1 << 20;

std::optional<ProgramFigures> figures_of(const Json& line) {
  if (!line.is_object()) return std::nullopt;
  const auto number = [&](const char* key) {
    const auto at = line.find(key);
    return at != line.end() && at->is_number() ? at->get<double>() : -1.0;
  };
  const auto text = [&](const char* key) {
    const auto at = line.find(key);
    return at != line.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  ProgramFigures out{text("unit"), text("with"), text("allocator"), number("us"),
                     number("peak_bytes") / kMib};
  if (out.unit.empty() || out.us <= 0 || out.peak_mib < 0) return std::nullopt;
  return out;
}

GuardCell cell_of(const Json& json) {
  GuardCell out;
  out.us = json.at("us_of_runs").get<std::vector<double>>();
  out.peak_mib = json.at("peak_mib_of_runs").get<std::vector<double>>();
  if (out.us.size() != out.peak_mib.size()) throw std::runtime_error("runs without a figure");
  const auto is_figure = [](double value) { return value > 0; };
  if (!std::all_of(out.us.begin(), out.us.end(), is_figure) ||
      !std::all_of(out.peak_mib.begin(), out.peak_mib.end(), is_figure))
    throw std::runtime_error("a figure that is none");
  if (const Json& why = json.at("why_not"); !why.is_null()) out.why_not = why.get<std::string>();
  return out;
}

GuardCost cost_of(const Json& json) {
  GuardCost out;
  out.runs = json.at("runs").get<std::size_t>();
  for (const Json& column : json.at("columns"))
    out.columns.push_back(
        {column.at("name").get<std::string>(), column.at("what").get<std::string>()});
  for (const Json& row : json.at("rows")) {
    GuardRow& made = out.rows.emplace_back();
    made.program = row.at("program").get<std::string>();
    made.what = row.at("what").get<std::string>();
    made.unit = row.at("unit").get<std::string>();
    made.with = row.at("with").get<std::string>();
    for (const ModeColumn& column : out.columns) made.cells.push_back(cell_of(row.at(column.name)));
  }
  return out;
}

}  // namespace

std::optional<ProgramFigures> parse_figures(std::string_view output) {
  std::optional<ProgramFigures> out;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(line.size() + 1, output.size()));
    if (auto found = figures_of(Json::parse(line, nullptr, false))) out = std::move(found);
  }
  return out;
}

Result<GuardCost> guard_cost_of(std::string_view json) {
  try {
    return cost_of(Json::parse(json).at("guard"));
  } catch (const std::exception& problem) {
    return usage_error(fmt::format("no result with the part guard: {}", problem.what()));
  }
}

}  // namespace redzone::bench
