#include "bench/report.h"

#include <algorithm>

namespace redzone::bench {

Tally& Tally::operator+=(const Tally& more) {
  plans += more.plans;
  trials += more.trials;
  calls += more.calls;
  mapping_calls += more.mapping_calls;
  comparable += more.comparable;
  compared += more.compared;
  sampled += more.sampled;
  seconds += more.seconds;
  return *this;
}

Tally Column::sum() const {
  Tally all;
  for (const auto& round : rounds) all += round;
  return all;
}

std::optional<double> Column::calls_per_s() const {
  if (rounds.empty()) return std::nullopt;
  std::vector<double> rates;
  for (const auto& round : rounds) rates.push_back(round.calls_per_s());
  return median(std::move(rates));
}

const Column* Throughput::column(std::string_view name) const {
  for (const auto& c : columns)
    if (c.name == name) return &c;
  return nullptr;
}

std::optional<double> Throughput::ratio(std::string_view of, std::string_view to) const {
  const Column* const above = column(of);
  const Column* const below = column(to);
  if (above == nullptr || below == nullptr) return std::nullopt;
  const auto a = above->calls_per_s();
  const auto b = below->calls_per_s();
  if (!a || !b || *b <= 0) return std::nullopt;
  return *a / *b;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> GuardCost::ratio(const GuardRow& row, std::string_view of,
                                       std::string_view to) const {
  const auto time = [&](std::string_view name) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == name) return median(row.cells[i].us);
    return 0.0;
  };
  if (time(of) <= 0 || time(to) <= 0) return std::nullopt;
  return time(of) / time(to);
}

std::optional<double> KernelShare::share() const {
  if (!why_not.empty() || kernels.empty()) return std::nullopt;
  std::vector<double> kept;
  for (const auto& k : kernels) kept.push_back(k.beside_plans_per_s / k.alone_plans_per_s);
  return median(std::move(kept));
}

std::size_t Minute::confirmed() const {
  return static_cast<std::size_t>(std::count_if(
      puzzles.begin(), puzzles.end(), [](const auto& p) { return p.confirmed_s.has_value(); }));
}

std::size_t Minute::minimal() const {
  return static_cast<std::size_t>(std::count_if(
      puzzles.begin(), puzzles.end(), [](const auto& p) { return p.minimal_s.has_value(); }));
}

std::optional<double> Minute::first_confirmed_s() const {
  std::optional<double> first;
  for (const auto& p : puzzles)
    if (p.confirmed_s && (!first || *p.confirmed_s < *first)) first = p.confirmed_s;
  return first;
}

const MinutePuzzle* Minute::fewest_plans() const {
  const auto it = std::min_element(puzzles.begin(), puzzles.end(),
                                   [](const auto& a, const auto& b) { return a.plans < b.plans; });
  return it == puzzles.end() ? nullptr : &*it;
}

}  // namespace redzone::bench
