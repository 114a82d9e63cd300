#include "sanitizer/text_record.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace redzone::sanitizer {
namespace {

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

// The text after `what`; "" if `what` is missing.
std::string_view behind(std::string_view text, std::string_view what) {
  const auto at = text.find(what);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + what.size());
}

// Parses the number at the start, which may contain commas; 0 if there is none.
std::int64_t number(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (c == ',') continue;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || digits.size() == 18) break;
    digits += c;
  }
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::uint64_t first_address(std::string_view text) {
  const auto hex = behind(text, "0x");
  std::uint64_t value = 0;
  std::from_chars(hex.data(), hex.data() + std::min<std::size_t>(hex.size(), 16), value, 16);
  return value;
}

// Extracts "64,0,0" from "... thread (64,0,0) in ...".
std::string triple_behind(std::string_view text, std::string_view what) {
  const auto rest = behind(text, what);
  const auto end = rest.find(')');
  return end == std::string_view::npos || end > 64 ? std::string()
                                                   : std::string(rest.substr(0, end));
}

std::string space_of(std::string_view text) {
  for (std::string_view space : {"global", "shared", "local", "constant"})
    if (contains(text, std::string("__").append(space).append("__"))) return std::string(space);
  return {};
}

// Parses "oob(int *, int)+0xb0 in p.cu:8": sets kernel and location unless they are set already.
void read_place(std::string_view text, SanitizerRecord& record) {
  const auto offset = text.rfind("+0x");
  if (offset == std::string_view::npos) return;
  if (record.kernel.empty()) record.kernel = function_name(text.substr(0, offset));
  const auto file = behind(text.substr(offset), " in ");
  if (record.location.empty()) record.location = file.substr(0, file.find(' '));
}

struct KindRule {
  std::string_view part;  // part of the first line
  std::string_view kind;
};

// The first match applies.
constexpr std::array kKinds{
    KindRule{"Use-after-free", "use-after-free"},
    KindRule{"Use-before-alloc", "use-before-alloc"},
    KindRule{"RAW hazard", "race-raw"},
    KindRule{"WAR hazard", "race-war"},
    KindRule{"WAW hazard", "race-waw"},
    KindRule{"Race reported", "race"},
    KindRule{"ninitialized", "uninitialized-read"},
    KindRule{"ivergent thread", "barrier-divergence"},
    KindRule{"Barrier error", "barrier-error"},
    KindRule{"Program hit", "api-error"},
};

// Classifies "Invalid __global__ write of size 4 bytes"; uses the address line to detect
// misalignment.
std::string access_kind(std::string_view head, std::span<const std::string> lines) {
  const bool misaligned =
      contains(head, "isaligned") || std::any_of(lines.begin(), lines.end(), [](const auto& line) {
        return contains(line, "is misaligned");
      });
  if (!misaligned && !head.starts_with("Invalid ")) return {};
  for (std::string_view access : {"read", "write", "atomic"})
    if (contains(head, std::string(" ").append(access).append(" ")))
      return std::string(misaligned ? "misaligned-" : "invalid-").append(access);
  return {};
}

std::string kind_of(std::string_view head, std::span<const std::string> lines) {
  if (auto kind = access_kind(head, lines); !kind.empty()) return kind;
  for (const auto& rule : kKinds)
    if (contains(head, rule.part)) return std::string(rule.kind);
  return "other";
}

Access access_of(std::string_view kind) {
  if (kind.ends_with("-read")) return Access::read;
  if (kind.ends_with("-write") || kind.ends_with("-atomic")) return Access::write;
  return Access::unknown;
}

void read_line(std::string_view line, SanitizerRecord& record) {
  if (line.starts_with("at ")) {
    read_place(line.substr(3), record);
  } else if (line.starts_with("by thread (")) {
    record.thread = triple_behind(line, "thread (");
    record.block = triple_behind(line, "block (");
  } else if (line.starts_with("Access to 0x") || line.starts_with("Access at 0x") ||
             line.starts_with("Address 0x")) {
    record.address = first_address(line);
    record.text.append("; ").append(line);
  } else if (line.starts_with("Write Thread (") || line.starts_with("Read Thread (")) {
    if (record.thread.empty()) record.thread = triple_behind(line, "Thread (");
    read_place(behind(line, " at "), record);
    record.text.append("; ").append(line);
  } else if (line.starts_with("and is ") || line.starts_with("and Write access at ") ||
             line.starts_with("and Read access at ")) {
    record.text.append(" ").append(line);
  }
}

}  // namespace

Block classify(std::string_view head) {
  constexpr std::array<std::string_view, 8> kProblems{"Internal Sanitizer Error",
                                                      "Internal error",
                                                      "Target application terminated",
                                                      "No attachable process",
                                                      "not supported",
                                                      "Failed to",
                                                      "Unable to",
                                                      "process didn't terminate successfully"};
  if (head.starts_with("COMPUTE-SANITIZER") || contains(head, "SUMMARY:")) return Block::note;
  if (contains(head, "hazard") || contains(head, "Race reported")) return Block::record;
  if (std::any_of(kProblems.begin(), kProblems.end(),
                  [&](std::string_view p) { return contains(head, p); }))
    return Block::problem;
  return head.starts_with("Warning:") || head.starts_with("WARNING:") ? Block::note : Block::record;
}

SanitizerRecord parse_record(std::string_view head, std::span<const std::string> lines) {
  SanitizerRecord record;
  record.kind = kind_of(head, lines);
  record.warning = head.starts_with("Warning:");
  record.text = head;
  record.space = space_of(head);
  record.access = access_of(record.kind);
  record.size_bytes = number(behind(head, "of size "));
  const bool race = record.kind.starts_with("race");
  if (race) record.space = "shared";
  if (record.kind.starts_with("use-")) {
    record.space = "global";
    record.size_bytes = 0;  // the size in this line is that of the allocation
    record.address = first_address(head);
  }
  if (contains(head, " detected at ")) {
    record.address = first_address(head);
    record.block = triple_behind(head, "block (");
  }
  if (const auto place = behind(head, " access at "); !place.empty()) {
    read_place(place, record);
    // Two writes are reported as such; for a read and a write the tool does not report the order.
    const bool writes = contains(head, "Write access") &&
                        std::any_of(lines.begin(), lines.end(), [](const auto& line) {
                          return line.starts_with("and Write access");
                        });
    const bool mixed = std::any_of(lines.begin(), lines.end(), [](const auto& line) {
      return line.starts_with("and Read access");
    });
    if (writes && !mixed) record.kind = "race-waw";
  }
  for (const auto& line : lines) read_line(line, record);
  return record;
}

std::string function_name(std::string_view demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::size_t begin = 0, end = std::string_view::npos, depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '<') {
      if (depth++ == 0 && end == std::string_view::npos) end = i;
    } else if (c == '>') {
      if (depth > 0) --depth;
    } else if (depth > 0) {
      continue;
    } else if (c == '(') {
      if (!demangled.substr(i).starts_with(kAnonymous)) {
        end = std::min(end, i);
        break;
      }
      i += kAnonymous.size() - 1;
    } else if (c == ' ' || c == ':') {
      begin = i + 1;
      end = std::string_view::npos;
    }
  }
  return std::string(demangled.substr(begin, end == std::string_view::npos ? end : end - begin));
}

}  // namespace redzone::sanitizer
