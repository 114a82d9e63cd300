#include "fleet/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace redzone::fleet {
namespace {

// "0003-1-7" and the rest of the text.
struct Numbered {
  Attempt attempt;
  std::int64_t number = 0;
  std::string_view rest;
};

std::optional<Numbered> parse_numbered(std::string_view text) {
  const auto first = text.find('-');
  const auto second = first == std::string_view::npos ? first : text.find('-', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto attempt = parse_attempt(text.substr(0, second));
  if (!attempt) return std::nullopt;
  Numbered numbered{.attempt = *attempt, .rest = text.substr(second + 1)};
  const char* begin = numbered.rest.data();
  const auto [end, error] = std::from_chars(begin, begin + numbered.rest.size(), numbered.number);
  if (error != std::errc() || numbered.number < 1) return std::nullopt;
  numbered.rest.remove_prefix(static_cast<std::size_t>(end - begin));
  return numbered;
}

bool is_hash(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

std::string text_of(const SnapshotName& name) {
  return fmt::format("{}-{}.db", text_of(name.attempt), name.number);
}

std::optional<SnapshotName> parse_snapshot(std::string_view text) {
  const auto numbered = parse_numbered(text);
  if (!numbered || numbered->rest != ".db") return std::nullopt;
  return SnapshotName{numbered->attempt, numbered->number};
}

std::string text_of(const Request& request) {
  return fmt::format("{}-{}-{}", text_of(request.attempt), request.number, request.signature);
}

std::optional<Request> parse_request(std::string_view text) {
  const auto numbered = parse_numbered(text);
  if (!numbered || !numbered->rest.starts_with('-') || !is_hash(numbered->rest.substr(1)))
    return std::nullopt;
  return Request{numbered->attempt, numbered->number, std::string(numbered->rest.substr(1))};
}

}  // namespace redzone::fleet
