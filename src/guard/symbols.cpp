#include "guard/symbols.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace redzone::guard {
namespace {

// Larger files are not read; none of their functions gets a name.
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{1} << 30;
constexpr std::size_t kMostNameBytes = 4096;

// A number in base 16 at the beginning of `text`, which it is removed from.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (read.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

// "55e0-55f0 r-xp 00001000 08:01 1234   /usr/bin/x"
std::optional<Mapping> parse_line(std::string_view line) {
  Mapping out;
  const auto begin = take_hex(line);
  if (!begin || !line.starts_with('-')) return std::nullopt;
  line.remove_prefix(1);
  const auto end = take_hex(line);
  if (!end || line.size() < 6) return std::nullopt;
  line.remove_prefix(6);  // " r-xp "
  const auto offset = take_hex(line);
  const auto file = line.find('/');
  if (!offset || file == std::string_view::npos) return std::nullopt;
  out.begin = *begin;
  out.end = *end;
  out.offset = *offset;
  out.file = line.substr(file);
  return out;
}

// The object at a byte of the image; empty if it does not fit.
template <class T>
std::optional<T> read_at(std::string_view image, std::uint64_t at) {
  if (at > image.size() || image.size() - at < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, image.data() + at, sizeof(T));
  return out;
}

std::string_view part_of_image(std::string_view image, std::uint64_t at, std::uint64_t bytes) {
  if (at > image.size() || image.size() - at < bytes) return {};
  return image.substr(at, bytes);
}

std::string read_image(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto bytes = in.tellg();
  if (!in || bytes < 0 || static_cast<std::uintmax_t>(bytes) > kMostFileBytes) return {};
  std::string out(static_cast<std::size_t>(bytes), '\0');
  in.seekg(0);
  in.read(out.data(), bytes);
  return in ? out : std::string();
}

}  // namespace

// Names without the prefix are those of C, and may look like an encoded type: "w" is wchar_t.
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

std::vector<Mapping> parse_mappings(std::string_view text) {
  std::vector<Mapping> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (auto mapping = parse_line(text.substr(0, end))) out.push_back(*std::move(mapping));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

ElfFunctions::ElfFunctions(std::string_view image) {
  const auto header = read_at<Elf64_Ehdr>(image, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return;
  for (unsigned i = 0; i < header->e_phnum; ++i)
    if (const auto s = read_at<Elf64_Phdr>(image, header->e_phoff + i * sizeof(Elf64_Phdr));
        s && s->p_type == PT_LOAD)
      segments_.push_back({s->p_offset, s->p_filesz, s->p_vaddr});
  // The full table of symbols where the file has it, else that of what it exports.
  for (const unsigned wanted : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (unsigned i = 0; i < header->e_shnum && functions_.empty(); ++i) {
      const auto table = read_at<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!table || table->sh_type != wanted) continue;
      const auto names =
          read_at<Elf64_Shdr>(image, header->e_shoff + table->sh_link * sizeof(Elf64_Shdr));
      const std::string_view symbols = part_of_image(image, table->sh_offset, table->sh_size);
      const std::string_view text =
          names ? part_of_image(image, names->sh_offset, names->sh_size) : std::string_view();
      for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(symbols, at);
           at += sizeof(Elf64_Sym)) {
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value == 0 ||
            symbol->st_name >= text.size())
          continue;
        const std::string_view name = text.substr(symbol->st_name, kMostNameBytes);
        functions_.push_back(
            {symbol->st_value, symbol->st_size, std::string(name.substr(0, name.find('\0')))});
      }
    }
  }
  std::stable_sort(functions_.begin(), functions_.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

std::string ElfFunctions::at(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset < segment.offset || file_offset - segment.offset >= segment.bytes) continue;
    const std::uint64_t address = file_offset - segment.offset + segment.address;
    auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                  [](std::uint64_t a, const auto& f) { return a < f.begin; });
    if (after == functions_.begin()) return {};
    const Function& function = *std::prev(after);
    return address - function.begin < function.bytes ? function.name : std::string();
  }
  return {};
}

Symbols::Symbols(std::string_view mappings) : mappings_(parse_mappings(mappings)) {}

Frame Symbols::at(std::uint64_t address) const {
  Frame out;
  out.address = address;
  for (const Mapping& mapping : mappings_) {
    if (address < mapping.begin || address >= mapping.end) continue;
    out.module = mapping.file;
    out.offset = address - mapping.begin + mapping.offset;
    auto& functions = files_[mapping.file];
    if (functions == nullptr) functions = std::make_unique<ElfFunctions>(read_image(mapping.file));
    out.function = demangled(functions->at(out.offset));
    break;
  }
  return out;
}

}  // namespace redzone::guard
