// Pieces of text reports: numbers, durations, tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/terminal.h"

namespace redzone::report {

// "1,234,567"
std::string grouped(std::uint64_t n);

// Three significant digits or all digits of the integer part, grouped: "0.0123", "1.23", "45.6",
// "1,234".
std::string rate(double per_second);

// n / seconds; 0 if `seconds` is not positive.
double per_second(std::uint64_t n, double seconds);

// "0:07", "12:34", "1:02:03"; fractions are dropped, negative times are "0:00".
std::string clock_time(double seconds);

// "1 call", "2 calls", "1,000 calls".
std::string counted(std::uint64_t n, std::string_view noun);

// Columns aligned with two spaces between them, no space at the end of a line.
class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Takes as many cells as there are columns; makes them printable.
  void add(const std::vector<std::string>& cells);
  bool empty() const { return rows_.empty(); }
  // A line of titles and a line per row, each after `indent`.
  std::string text(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace redzone::report
