#include "core/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace redzone {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Reads a text as far as it takes to tell keys from strings and comments. Of a text that is no TOML
// it reads the same as toml++ up to the first error, behind which toml++ reads nothing.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  // What is beyond the bounds of toml.h, and where; nothing when nothing is.
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
      // What a key cannot hold outside of quotes; a number holds one dot at most.
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
        // Up to two more quotes are the string's own.
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
