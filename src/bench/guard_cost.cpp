#include "bench/guard_cost.h"

#include <fmt/format.h>

#include <algorithm>

namespace redzone::bench {
namespace {

constexpr std::size_t kMostReason = 200;

// The last non-blank line, shortened.
std::string last_line(std::string_view output) {
  const auto end = output.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return "no output";
  output = output.substr(0, end + 1);
  const auto begin = output.rfind('\n');
  return std::string(output.substr(begin == std::string_view::npos ? 0 : begin + 1, kMostReason));
}

class CostTable {
 public:
  CostTable(const GuardRuns& runs, GuardCost& cost) : runs_(runs), cost_(cost) {}

  void add(const GuardProgram& program) {
    GuardRow& row = row_of(program);
    for (GuardCell& cell : row.cells)
      if (cell.us.size() < runs_.runs) cell.why_not = program.why_not;
    if (!program.why_not.empty()) return;
    for (std::size_t round = 0; round < runs_.runs; ++round)
      for (std::size_t way = 0; way < runs_.ways.size(); ++way) {
        if (runs_.stop()) return;
        GuardCell& cell = row.cells[way];
        if (cell.us.size() > round || !cell.why_not.empty()) continue;
        cell.why_not = reason(program, row, way);
        if (cell.why_not.empty()) run(program, runs_.ways[way], row, cell);
        if (runs_.stop()) return;  // the result of an interrupted run is meaningless
        runs_.keep(cost_);
      }
  }

 private:
  GuardRow& row_of(const GuardProgram& program) {
    auto at = std::find_if(cost_.rows.begin(), cost_.rows.end(),
                           [&](const GuardRow& row) { return row.program == program.name; });
    if (at == cost_.rows.end()) at = cost_.rows.insert(at, GuardRow{.program = program.name});
    at->what = program.what;
    at->cells.resize(runs_.ways.size());
    return *at;
  }

  // Explains why the program is not run in this way; "" if it is.
  std::string reason(const GuardProgram& program, const GuardRow& row, std::size_t way) const {
    if (way != 0 && !row.cells[0].why_not.empty()) return "it fails alone";
    if (runs_.ways[way].of_framework && !program.has_framework) return "it has no framework";
    return runs_.ways[way].why_not;
  }

  void run(const GuardProgram& program, const GuardWay& way, GuardRow& row, GuardCell& cell) {
    runs_.say(fmt::format("guard, {}, {}, run {} of {}", program.name, way.column.name,
                          cell.us.size() + 1, runs_.runs));
    std::vector<std::string> words = way.before;
    words.insert(words.end(), program.command.begin(), program.command.end());
    const auto ran = runs_.run(words);
    if (runs_.stop()) return;
    if (!ran) {
      cell.why_not = ran.error().message;
      return;
    }
    const auto figures = parse_figures(ran->output);
    if (ran->over_time)
      cell.why_not = "it took too long";
    else if (ran->exit_code != 0)
      cell.why_not = fmt::format("exit code {}: {}", ran->exit_code, last_line(ran->output));
    else if (!figures)
      cell.why_not = "it printed no figures: " + last_line(ran->output);
    else if (program.has_framework && !way.allocator.empty() && figures->allocator != way.allocator)
      cell.why_not = fmt::format("it has PyTorch's allocator '{}'", figures->allocator);
    else if (!row.with.empty() && figures->with != row.with)
      cell.why_not = fmt::format("it has {}, and earlier runs {}", figures->with, row.with);
    if (!cell.why_not.empty()) return;
    row.unit = figures->unit;
    row.with = figures->with;
    cell.us.push_back(figures->us);
    cell.peak_mib.push_back(figures->peak_mib);
  }

  const GuardRuns& runs_;
  GuardCost& cost_;
};

}  // namespace

void measure_guard_cost(const GuardRuns& runs, GuardCost& cost) {
  cost.runs = runs.runs;
  cost.columns.clear();
  for (const GuardWay& way : runs.ways) cost.columns.push_back(way.column);
  CostTable table(runs, cost);
  for (const GuardProgram& program : runs.programs) table.add(program);
}

}  // namespace redzone::bench
