#include "fleet/attempt.h"

#include <fmt/format.h>

#include <charconv>

namespace redzone::fleet {

std::string text_of(const Attempt& attempt) {
  return fmt::format("{:04}-{}", attempt.shard, attempt.number);
}

std::optional<Attempt> parse_attempt(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto read = [](std::string_view digits, int& value) {
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && rest == end && value >= 0 && value < kAttemptsEnd;
  };
  Attempt attempt;
  if (!read(text.substr(0, dash), attempt.shard) || !read(text.substr(dash + 1), attempt.number))
    return std::nullopt;
  return attempt;
}

Past past_of(const std::map<Attempt, AttemptStatus>& attempts, int shard) {
  Past past;
  for (auto it = attempts.lower_bound({shard, 0}); it != attempts.end(); ++it) {
    const auto& [attempt, status] = *it;
    if (attempt.shard != shard) break;
    if (!status.has_ended()) continue;
    const bool whole = !status.failed && status.exit_code != kInterrupted;
    if (status.failed) ++past.failures;
    if (whole || past.failures >= kMostFailures) past.over = status.exit_code;
    if (whole) break;
  }
  return past;
}

}  // namespace redzone::fleet
