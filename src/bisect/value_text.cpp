#include "bisect/value_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

namespace redzone::bisect {
namespace {

constexpr std::size_t kMostShown = 12;

}  // namespace

std::string some_of(const std::vector<std::int64_t>& values) {
  const auto shown = std::min(values.size(), kMostShown);
  const std::string text = fmt::format("{}", fmt::join(std::span(values).first(shown), ", "));
  return shown == values.size() ? text : fmt::format("{} and {} more", text, values.size() - shown);
}

std::optional<std::int64_t> leading_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace redzone::bisect
