#include "device/host/vector_access.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace redzone::device {
namespace {

// General registers by their numbers in instructions.
constexpr std::array kRegisters{REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
// Opcodes of moves (aligned, and non-temporal) to memory, and from memory.
constexpr std::array<std::uint8_t, 4> kStores{0x29, 0x2b, 0x7f, 0xe7};
constexpr std::array<std::uint8_t, 2> kLoads{0x28, 0x6f};

template <std::size_t N>
bool is_one_of(const std::array<std::uint8_t, N>& all, std::uint8_t opcode) {
  return std::find(all.begin(), all.end(), opcode) != all.end();
}

// The highest bits of the base and index register numbers.
struct HighBits {
  unsigned base = 0, index = 0;
};

std::int64_t displacement(const std::uint8_t* at, unsigned mode) {
  if (mode == 0) return 0;
  if (mode == 1) return static_cast<std::int8_t>(*at);
  std::int32_t wide = 0;
  std::memcpy(&wide, at, sizeof wide);
  return wide;
}

// The address of the operand whose ModRM byte is at `at`; nullopt for a register or a relative
// address.
std::optional<std::uintptr_t> operand(const std::uint8_t* at, HighBits high,
                                      const gregset_t& registers) {
  const auto value = [&](unsigned number) { return registers[kRegisters[number]]; };
  const unsigned mode = *at >> 6, low = *at & 7;
  ++at;
  if (mode == 3) return std::nullopt;  // a register
  if (mode == 0 && low == 5) return std::nullopt;
  std::int64_t address = 0;
  if (low == 4) {  // a SIB byte follows
    const unsigned scale = *at >> 6, index = (*at >> 3 & 7) | high.index << 3, base = *at & 7;
    ++at;
    constexpr unsigned kNoIndex = 4;
    if (index != kNoIndex) address = value(index) << scale;
    if (mode == 0 && base == 5) return static_cast<std::uintptr_t>(address + displacement(at, 2));
    address += value(base | high.base << 3);
  } else {
    address = value(low | high.base << 3);
  }
  return static_cast<std::uintptr_t>(address + displacement(at, mode));
}

std::optional<VectorAccess> access_at(const std::uint8_t* modrm, HighBits high, bool store,
                                      const gregset_t& registers) {
  const auto address = operand(modrm, high, registers);
  if (!address) return std::nullopt;
  return VectorAccess{*address, store ? Access::write : Access::read};
}

}  // namespace

std::optional<VectorAccess> vector_access(const std::uint8_t* code, const gregset_t& registers) {
  constexpr std::uint8_t kOperandSize = 0x66, kEscape = 0x0f, kShortVex = 0xc5, kLongVex = 0xc4;
  if (*code == kShortVex || *code == kLongVex) {
    HighBits high;
    if (*code == kLongVex) {  // the bits are inverted in this prefix
      high = {.base = (code[1] & 0x20u) == 0, .index = (code[1] & 0x40u) == 0};
      if ((code[1] & 0x1f) != 1) return std::nullopt;
      ++code;
    }
    const std::uint8_t opcode = code[2];
    if (!is_one_of(kStores, opcode) && !is_one_of(kLoads, opcode)) return std::nullopt;
    return access_at(code + 3, high, is_one_of(kStores, opcode), registers);
  }
  if (*code == kOperandSize) ++code;
  HighBits high;
  if ((*code & 0xf0) == 0x40) {
    high = {.base = *code & 1u, .index = *code >> 1 & 1u};
    ++code;
  }
  if (*code++ != kEscape) return std::nullopt;
  const bool longer = *code == 0x38 || *code == 0x3a;
  if (longer) ++code;
  return access_at(code + 1, high, !longer && is_one_of(kStores, *code), registers);
}

}  // namespace redzone::device
