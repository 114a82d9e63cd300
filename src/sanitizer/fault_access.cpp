#include "sanitizer/fault_access.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace redzone::sanitizer {
namespace {

using Registers = std::map<std::string, std::uint64_t, std::less<>>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r;";
  const auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

// Parses a hexadecimal number that begins with "0x" at the beginning of the text.
std::optional<std::uint64_t> hex_at(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

// The name of a register ("R" or "UR" and digits) at the beginning of the text; "" if there is
// none.
std::string_view register_at(std::string_view text) {
  const std::size_t letters = text.starts_with("UR") ? 2 : text.starts_with("R") ? 1 : 0;
  std::size_t end = letters;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return letters == 0 || end == letters ? std::string_view() : text.substr(0, end);
}

// "R2    0x7f00   32512", a line of `info registers`.
void read_register(std::string_view line, Registers& out) {
  line = trimmed(line);
  const std::string_view name = register_at(line);
  if (name.empty()) return;
  if (const auto value = hex_at(trimmed(line.substr(name.size()))))
    out.insert_or_assign(std::string(name), *value);
}

// "=> 0x7fff <_Z4fillPf+144>:\tSTG.E desc[UR4][R2.64], R7", a line of `x/i`.
std::string_view read_instruction(std::string_view line) {
  const auto colon = line.find(">:");
  if (trimmed(line).substr(0, 2) != "=>" && trimmed(line).substr(0, 2) != "*>" &&
      trimmed(line).substr(0, 2) != "0x")
    return {};
  return colon == std::string_view::npos ? std::string_view() : trimmed(line.substr(colon + 2));
}

Access access_of(std::string_view instruction) {
  if (instruction.starts_with('@')) {
    const auto space = instruction.find(' ');
    instruction = space == std::string_view::npos ? "" : trimmed(instruction.substr(space));
  }
  const std::string_view name = instruction.substr(0, instruction.find_first_of(". "));
  for (const std::string_view load : {"LD", "LDG", "LDL", "LDS", "LDGSTS"})
    if (name == load) return Access::read;
  for (const std::string_view store : {"ST", "STG", "STL", "STS", "RED", "REDG", "ATOM", "ATOMG"})
    if (name == store) return Access::write;
  return Access::unknown;
}

// 64 bits from a register and the next one if `wide`, else 32 bits from the first.
std::optional<std::uint64_t> value_of(std::string_view name, bool wide,
                                      const Registers& registers) {
  const auto low = registers.find(name);
  if (low == registers.end()) return std::nullopt;
  if (!wide) return low->second & 0xffffffff;
  const auto digits = name.find_first_of("0123456789");
  unsigned number = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  const auto high = registers.find(fmt::format("{}{}", name.substr(0, digits), number + 1));
  if (high == registers.end()) return std::nullopt;
  return (high->second & 0xffffffff) << 32 | (low->second & 0xffffffff);
}

// "R2.64+UR4+0x10": the sum of its parts.
std::optional<std::uint64_t> address_of(std::string_view operand, const Registers& registers) {
  std::uint64_t sum = 0;
  bool any = false;
  while (!operand.empty()) {
    const auto plus = operand.find('+');
    std::string_view part = trimmed(operand.substr(0, plus));
    operand = plus == std::string_view::npos ? std::string_view() : operand.substr(plus + 1);
    const std::string_view name = register_at(part);
    if (!name.empty()) {
      const auto value = value_of(name, !part.ends_with(".U32"), registers);
      if (!value) return std::nullopt;
      sum += *value;
      any = true;
    } else if (part.starts_with("-")) {
      const auto value = hex_at(part.substr(1));
      if (!value) return std::nullopt;
      sum -= *value;
    } else if (const auto value = hex_at(part)) {
      sum += *value;
    } else if (!part.starts_with("RZ") && !part.starts_with("URZ")) {
      return std::nullopt;
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

// True if a load may have overwritten its address register: "R4" of "LDG.E.128 R4,
// desc[UR4][R2.64]". A failed load may have changed its target, so the previous value is then
// unknown. A load of 128 bits changes four registers.
bool changes_address(std::string_view instruction, std::string_view operand) {
  const auto number_at = [](std::string_view text) {
    unsigned out = 0;
    const std::string_view name = register_at(trimmed(text));
    if (!name.starts_with("R")) return -1;
    std::from_chars(name.data() + 1, name.data() + name.size(), out);
    return static_cast<int>(out);
  };
  if (instruction.starts_with('@'))
    instruction = trimmed(instruction.substr(instruction.find(' ')));
  const auto space = instruction.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view name = instruction.substr(0, space);
  const int first = number_at(instruction.substr(space)), base = number_at(operand);
  if (first < 0 || base < 0) return false;
  const int many = name.find(".128") != std::string_view::npos  ? 4
                   : name.find(".64") != std::string_view::npos ? 2
                                                                : 1;
  return first <= base + 1 && base < first + many;
}

// The operand in brackets that is an address; skips the operand of a descriptor.
std::string_view operand_of(std::string_view instruction) {
  for (auto open = instruction.find('['); open != std::string_view::npos;
       open = instruction.find('[', open + 1)) {
    const auto close = instruction.find(']', open);
    if (close == std::string_view::npos) return {};
    const std::string_view before = instruction.substr(0, open);
    if (!before.ends_with("desc")) return instruction.substr(open + 1, close - open - 1);
  }
  return {};
}

}  // namespace

std::vector<std::string> core_dump_commands(const std::string& core_dump) {
  return {"target cudacore " + core_dump, "x/i $errorpc", "info registers"};
}

FaultAccess read_fault_access(std::string_view output) {
  FaultAccess out;
  Registers registers;
  while (!output.empty()) {
    const auto end = output.find('\n');
    const std::string_view line = output.substr(0, end);
    output = end == std::string_view::npos ? std::string_view() : output.substr(end + 1);
    if (const auto found = read_instruction(line); !found.empty() && out.instruction.empty())
      out.instruction = found;
    read_register(line, registers);
  }
  out.access = access_of(out.instruction);
  const std::string_view operand = operand_of(out.instruction);
  const bool is_lost = out.access == Access::read && changes_address(out.instruction, operand);
  if (out.access != Access::unknown && !is_lost) out.address = address_of(operand, registers);
  return out;
}

}  // namespace redzone::sanitizer
