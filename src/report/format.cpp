#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace redzone::report {
namespace {

// Approximate number of terminal columns: the number of UTF-8 code points.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void append_line(std::string& out, std::string_view indent,
                 const std::vector<Table::Column>& columns, const std::vector<std::size_t>& widths,
                 const std::vector<std::string>& cells) {
  std::string line(indent);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - width_of(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns[i].align == Table::Align::left ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string grouped(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t end = out.size(); end > 3; end -= 3) out.insert(end - 3, 1, ',');
  return out;
}

double per_second(std::uint64_t n, double seconds) {
  return seconds > 0 ? static_cast<double>(n) / seconds : 0;
}

std::string rate(double per_second) {
  if (!(per_second > 0)) return "0";
  if (per_second >= 99.95) return grouped(static_cast<std::uint64_t>(std::llround(per_second)));
  return fmt::format("{:#.3g}", per_second);
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  const auto h = whole / 3600, m = whole / 60 % 60, s = whole % 60;
  return h > 0 ? fmt::format("{}:{:02}:{:02}", h, m, s) : fmt::format("{}:{:02}", m, s);
}

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

void Table::add(const std::vector<std::string>& cells) {
  RZ_CHECK(cells.size() == columns_.size());
  auto& row = rows_.emplace_back();
  for (const auto& cell : cells) row.push_back(printable(cell));
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(width_of(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  append_line(out, indent, columns_, widths, titles);
  for (const auto& row : rows_) append_line(out, indent, columns_, widths, row);
  return out;
}

}  // namespace redzone::report
