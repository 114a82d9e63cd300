#include "core/utc.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace redzone {
namespace {

constexpr std::size_t kSecondLength = std::string_view("2000-01-01T00:00:00").size();

// "2025-01-31T12:34:56"
std::string print_second(std::time_t time) {
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[kSecondLength + 1];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return {text, length};
}

std::string print_us(std::time_t second, std::int64_t us) {
  return fmt::format("{}.{:06}Z", print_second(second), us);
}

}  // namespace

std::string utc_now() {
  return print_second(std::time(nullptr)) + "Z";
}

std::string utc_now_us() {
  return utc_days_ago(0);
}

std::string utc_days_ago(double days) {
  using namespace std::chrono;
  const auto then = time_point_cast<microseconds>(
      system_clock::now() - duration_cast<microseconds>(duration<double, std::ratio<86400>>(days)));
  const auto second = floor<seconds>(then);
  return print_us(system_clock::to_time_t(second), (then - second).count());
}

std::string just_after(std::string_view time) {
  if (time.size() < kSecondLength) return "";
  std::tm utc{};
  const std::string second(time.substr(0, kSecondLength));
  const char* end = strptime(second.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (end == nullptr || end != second.c_str() + kSecondLength) return "";
  const std::string_view rest = time.substr(kSecondLength);
  const std::time_t from = timegm(&utc);
  if (rest == "Z") return print_us(from + 1, 0);  // "Z" sorts after every fraction
  std::int64_t us = 0;
  const char* const digits = rest.data() + 1;
  if (rest.size() != std::string_view(".000000Z").size() || rest.front() != '.' ||
      rest.back() != 'Z' || std::from_chars(digits, digits + 6, us).ptr != digits + 6 || us < 0)
    return "";
  return us == 999999 ? print_us(from + 1, 0) : print_us(from, us + 1);
}

bool is_utc_time(std::string_view time) {
  std::string shape(time);
  std::replace_if(
      shape.begin(), shape.end(), [](char c) { return c >= '0' && c <= '9'; }, '0');
  return (shape == "0000-00-00T00:00:00Z" || shape == "0000-00-00T00:00:00.000000Z") &&
         time < "9000" && !just_after(time).empty();
}

}  // namespace redzone
