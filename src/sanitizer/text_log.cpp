#include "sanitizer/text_log.h"

#include <algorithm>
#include <utility>

namespace redzone::sanitizer {
namespace {

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostLineBytes = 4096;
constexpr std::size_t kMostLines = 64;  // per block; a record needs about eight

}  // namespace

void TextLog::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    partial_.append(part.substr(0, kMostLineBytes - std::min(kMostLineBytes, partial_.size())));
    if (end == std::string_view::npos) return;
    line(partial_);
    partial_.clear();
    bytes.remove_prefix(end + 1);
  }
}

void TextLog::line(std::string_view text) {
  // Skip the target's own output between the tool's lines.
  if (!text.starts_with(kPrefix)) return;
  text.remove_prefix(kPrefix.size());
  if (text.empty() || text == " ") return end_block();
  const auto indent = std::min(text.find_first_not_of(' '), text.size());
  if (indent >= 4) {
    if (!head_.empty() && indent < text.size() && lines_.size() < kMostLines)
      lines_.emplace_back(text.substr(indent));
    return;
  }
  end_block();
  head_ = text.substr(indent);
}

void TextLog::end_block() {
  const std::string head = std::exchange(head_, {});
  const std::vector<std::string> lines = std::exchange(lines_, {});
  if (head.empty()) return;
  if (head.starts_with("COMPUTE-SANITIZER")) began_ = true;
  switch (classify(head)) {
    case Block::record:
      done_.push_back(parse_record(head, lines));
      break;
    case Block::problem:
      if (problem_.empty()) problem_ = head;
      break;
    case Block::note:
      break;
  }
}

std::vector<SanitizerRecord> TextLog::take(bool open) {
  // Close the banner here, because no further line ends it.
  if (open || head_.starts_with("COMPUTE-SANITIZER")) end_block();
  return std::exchange(done_, {});
}

}  // namespace redzone::sanitizer
