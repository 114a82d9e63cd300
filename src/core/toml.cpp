#include "core/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace redzone {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Scans a text just far enough to distinguish keys from strings and comments. For invalid TOML the
// scan agrees with toml++ up to the first error; toml++ reads nothing after it.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  // The violated bound of toml.h, and its position; nothing if the text is within the bounds.
  std::optional<TomlError> excess() {
    std::size_t dots = 0, all_dots = 0;
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      // Characters that end an unquoted key; a number has at most one dot.
      if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
      if (c == '.' && ++dots == kMostKeyParts)
        return error_here(fmt::format("a key of more than {} parts", kMostKeyParts));
      if (c == '.' && ++all_dots > kMostDots)
        return error_here(fmt::format("more than {} dots in keys and numbers", kMostDots));
      ++at_;
    }
    return std::nullopt;
  }

 private:
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool multi_line = text_.substr(at_, 3) == three;
    for (at_ += multi_line ? 3 : 1; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (multi_line && text_.substr(at_, 3) == three) {
        at_ += 3;
        // Up to two more quotes belong to the string.
        for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      } else if (!multi_line && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      }
    }
  }

  TomlError error_here(std::string what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    return {std::move(what), static_cast<std::uint32_t>(lines) + 1,
            static_cast<std::uint32_t>(at_ - begin) + 1};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string TomlError::at(std::string_view where) const {
  return line == 0 ? std::string(where) : fmt::format("{}:{}:{}", where, line, column);
}

tl::expected<toml::table, TomlError> parse_toml(std::string_view text) {
  if (text.size() > kMostTomlBytes)
    return tl::unexpected(
        TomlError{fmt::format("{} bytes, at most {} are read", text.size(), kMostTomlBytes)});
  if (auto excess = KeyScan(text).excess()) return tl::unexpected(std::move(*excess));
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    const auto& begin = e.source().begin;
    return tl::unexpected(TomlError{std::string(e.description()), begin.line, begin.column});
  } catch (const TomlRejected& e) {
    return tl::unexpected(TomlError{e.what()});
  }
}

}  // namespace redzone
