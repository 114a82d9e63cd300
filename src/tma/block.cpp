#include "tma/block.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace redzone::tma {
namespace {

// Number of lines without a field that end a block; fewer if it is uncertain whether it is a block.
constexpr std::size_t kQuietLines = 8;
constexpr std::size_t kQuietLinesOfDoubt = 1;
// Maximum number of characters of a value that are parsed.
constexpr std::size_t kMaxValue = 512;

struct FieldKey {
  std::string_view word;
  Field field;
  // True if the name identifies a block; the other names also occur in ordinary logs.
  bool strong;
};

constexpr FieldKey kKeys[] = {
    {"TMA Desc Addr", Field::map_address, true},
    {"tmaFormat", Field::type, true},
    {"tensorDataType", Field::type, true},
    {"format", Field::type, false},
    {"tensorRank", Field::rank, true},
    {"dim", Field::rank, false},
    {"gmem_address", Field::address, true},
    {"gmem", Field::address, false},
    {"globalDim", Field::dims, true},
    {"Shape", Field::dims, false},
    {"globalStrides", Field::strides, true},
    {"Stride", Field::strides, false},
    {"boxDim", Field::box, true},
    {"tileShapes", Field::box, false},
    {"elementStrides", Field::element_strides, true},
    {"tileStrides", Field::element_strides, false},
    {"interleave", Field::interleave, false},
    {"swizzleType", Field::swizzle, false},
    {"swizzle", Field::swizzle, false},
    {"l2Promotion", Field::promotion, false},
    {"oobFill", Field::fill, false},
    {"smem_box_pixel", Field::pixels, true},
    {"smem_box_channel", Field::channels, true},
    {"pixelBoxLowerCorner", Field::lower, true},
    {"pixelBoxUpperCorner", Field::upper, true},
};

constexpr std::string_view kFailed = "Failed to initialize the TMA descriptor";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_list(Field field) {
  switch (field) {
    case Field::dims:
    case Field::strides:
    case Field::box:
    case Field::element_strides:
    case Field::lower:
    case Field::upper:
      return true;
    default:
      return false;
  }
}

// Removes a number from the front of `text` and returns it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const bool negative = !text.empty() && text.front() == '-';
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  if (digits.empty() || error != std::errc()) return std::nullopt;
  if (negative && value > std::uint64_t{1} << 63) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return negative ? 0 - value : value;
}

FieldValue damaged() {
  return {FieldValue::State::damaged, {}};
}

// Numbers separated by one comma, spaces, or both.
FieldValue separated(std::string_view text) {
  FieldValue out;
  text = trimmed(text);
  while (!text.empty()) {
    const auto number = take_number(text);
    if (!number) return damaged();
    if (out.numbers.size() < kMaxNumbers) out.numbers.push_back(*number);
    const bool space = !text.empty() && is_space(text.front());
    text = trimmed(text);
    if (text.empty()) break;
    if (text.front() == ',') {
      text = trimmed(text.substr(1));
      if (text.empty()) return damaged();
    } else if (!space) {
      return damaged();
    }
  }
  return out.numbers.empty() ? damaged() : out;
}

// A printed list; quotes and similar characters may follow the closing bracket.
FieldValue list_value(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return damaged();
  if (const char open = text.front(); open == '(' || open == '[') {
    const auto close = text.find(open == '(' ? ')' : ']');
    if (close == std::string_view::npos) return damaged();
    const std::string_view rest = text.substr(close + 1);
    if (std::any_of(rest.begin(), rest.end(), is_word)) return damaged();
    return separated(text.substr(1, close - 1));
  }
  FieldValue out = separated(text);
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex && out.numbers.size() == 1) return {FieldValue::State::pointer, {}};
  return out;
}

// A number at the end of the text or followed by text that does not touch it.
FieldValue scalar_value(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number(text);
  if (!number || (!text.empty() && (is_word(text.front()) || text.front() == ',')))
    return damaged();
  return {FieldValue::State::good, {*number}};
}

// The longest key that begins at `at`, if any.
const FieldKey* key_at(std::string_view line, std::size_t at) {
  if (at > 0 && (is_word(line[at - 1]) || line[at - 1] == '.')) return nullptr;
  for (const FieldKey& key : kKeys) {
    if (line[at] != key.word.front()) continue;
    if (line.compare(at, key.word.size(), key.word) != 0) continue;
    const std::size_t end = at + key.word.size();
    if (end == line.size() || !is_word(line[end])) return &key;
  }
  return nullptr;
}

class Finder {
 public:
  explicit Finder(const std::function<void(const Block&)>& visit) : visit_(visit) {}

  void line(std::string_view text, std::size_t number) {
    if (const auto at = text.find(kFailed); at != std::string_view::npos) {
      outcome(text.substr(0, at), trimmed(text.substr(at + kFailed.size())));
      return;
    }
    if (fields(text, number) || !open_) return;
    if (++quiet_ > (sure_ ? kQuietLines : kQuietLinesOfDoubt)) flush();
  }

  void flush() {
    if (open_ && sure_) {
      if (!open_->outcome) open_->outcome = pending_;
      const auto count = std::count_if(open_->fields.begin(), open_->fields.end(),
                                       [](const auto& field) { return field.has_value(); });
      if (count >= 2) visit_(*open_);
      pending_.reset();
    }
    open_.reset();
    sure_ = false;
  }

 private:
  // Parses the line that reports the failure. CUTLASS prints it ("Error: ... CODE") after the
  // block, other programs before it.
  void outcome(std::string_view before, std::string_view after) {
    Outcome result;
    constexpr std::string_view due = "due to";
    const bool reason = after.substr(0, due.size()) == due;
    const bool behind = !reason && before.find("Error:") != std::string_view::npos;
    if (reason) {
      result.words = std::string(trimmed(after.substr(due.size())).substr(0, kMaxValue));
    } else if (const FieldValue code = scalar_value(after.substr(0, kMaxValue));
               code.state == FieldValue::State::good && code.numbers[0] <= 99999) {
      result.code = static_cast<int>(code.numbers[0]);
    }
    if (behind && sure_) {
      open_->outcome = result;
      flush();
      return;
    }
    flush();
    pending_ = result;
  }

  bool fields(std::string_view text, std::size_t number) {
    bool any = false;
    const FieldKey* key = nullptr;
    std::size_t value_at = 0;
    const auto close = [&](std::size_t end) {
      if (key != nullptr)
        any |= field(*key, text.substr(value_at, std::min(end - value_at, kMaxValue)), number);
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (!is_word(text[at])) continue;
      if (const FieldKey* next = key_at(text, at)) {
        close(at);
        key = next;
        value_at = at + key->word.size();
      }
      while (at + 1 < text.size() && is_word(text[at + 1])) ++at;
    }
    close(text.size());
    return any;
  }

  bool field(const FieldKey& key, std::string_view text, std::size_t line) {
    while (!text.empty() && (is_space(text.front()) || text.front() == ':' || text.front() == '='))
      text.remove_prefix(1);
    const bool prose = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    if (prose) return false;
    FieldValue value = is_list(key.field) ? list_value(text) : scalar_value(text);
    if (!sure_ && !key.strong && value.state != FieldValue::State::good) return false;
    const auto index = static_cast<std::size_t>(key.field);
    if (open_ && last_ == key.field && open_->fields[index]) {
      // The same key twice in a row: another program printed a line between two lines of this one.
      quiet_ = 0;
      const bool same = open_->fields[index]->state == value.state &&
                        open_->fields[index]->numbers == value.numbers;
      open_->mixed[index] |= !same;
      sure_ |= key.strong;
      return true;
    }
    if (open_ && (open_->fields[index] || key.field == Field::map_address)) {
      if (sure_ && !key.strong) return false;
      flush();
    }
    if (!open_) {
      open_.emplace();
      open_->line = line;
    }
    sure_ |= key.strong;
    last_ = key.field;
    open_->fields[index] = std::move(value);
    if (key.field == Field::strides) open_->strides_from_dim_1 = key.word == "Stride";
    quiet_ = 0;
    return true;
  }

  const std::function<void(const Block&)>& visit_;
  std::optional<Block> open_;
  Field last_ = Field::map_address;  // latest field of the open block
  // True if at least one field has a strong key.
  bool sure_ = false;
  std::optional<Outcome> pending_;
  std::size_t quiet_ = 0;
};

}  // namespace

FieldValue parse_numbers(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2) {
    const char open = text.front(), close = text.back();
    if ((open == '(' && close == ')') || (open == '[' && close == ']'))
      text = text.substr(1, text.size() - 2);
  }
  return separated(text);
}

void find_blocks(std::string_view text, const std::function<void(const Block&)>& visit) {
  Finder finder(visit);
  std::size_t number = 1, begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool end = at == text.size();
    const bool newline = !end && (text[at] == '\n' || text[at] == '\r');
    // An escaped newline, in a log that quotes a whole message.
    const bool escaped = !end && text[at] == '\\' && at + 1 < text.size() && text[at + 1] == 'n';
    if (!end && !newline && !escaped) continue;
    finder.line(text.substr(begin, at - begin), number);
    if (newline && text[at] == '\n') ++number;
    if (escaped) ++at;
    begin = at + 1;
  }
  finder.flush();
}

}  // namespace redzone::tma
