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

}  // namespace redzone::fleet
