// night_files DIR: writes nights in every format, one folder each, for the validators of other
// programs: DIR/sample, DIR/hostile (texts that try to break out), DIR/empty and DIR/many (10,000
// findings).
#include <filesystem>
#include <fstream>
#include <iostream>

#include "report/nasty.h"
#include "report/night_formats.h"

namespace redzone::report {
namespace {

Night sample() {
  Night night = testing::sample_night();
  night.findings[3].signature = "hang: row_max (other)";
  night.findings[3].target = "other";
  for (int i = 0; i < 12; ++i) {
    NightTrend trend = night.trend[0];
    trend.campaign = i;
    trend.started = "2025-01-" + std::to_string(10 + i) + "T02:00:00Z";
    trend.plans += static_cast<std::uint64_t>(500 * i);
    trend.device_seconds["target " + std::to_string(i % 9)] = 100.0 * (i + 1);
    night.trend.insert(night.trend.end() - 2, trend);
  }
  return night;
}

Night hostile() {
  Night night = testing::sample_night();
  std::string all;
  for (const auto& piece : testing::nasty_pieces()) all += piece;
  testing::for_each_text(night, [&](std::string& text) { text = all; });
  return night;
}

Night many() {
  Night night = testing::sample_night();
  night.findings.clear();
  for (std::int64_t i = 0; i < 10'000; ++i) {
    night.findings.push_back(
        testing::night_finding(i, static_cast<Standing>(i % 5), static_cast<ReplayOutcome>(i % 7)));
    night.findings.back().signature += " " + std::to_string(i);
  }
  return night;
}

bool write(const Night& night, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& format : night_formats()) {
    std::ofstream out(folder / format.file, std::ios::binary);
    out << format.write(night);
    if (!out.flush()) return false;
  }
  return true;
}

}  // namespace
}  // namespace redzone::report

int main(int argc, char** argv) {
  using namespace redzone::report;
  if (argc != 2) {
    std::cerr << "usage: night_files DIR\n";
    return 2;
  }
  const std::filesystem::path root = argv[1];
  Night empty;
  empty.started = "2025-01-31T02:00:00Z";
  const bool written = write(sample(), root / "sample") && write(hostile(), root / "hostile") &&
                       write(empty, root / "empty") && write(many(), root / "many");
  return written ? 0 : 3;
}
