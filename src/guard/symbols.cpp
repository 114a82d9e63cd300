#include "guard/symbols.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/elf_image.h"

namespace redzone::guard {
namespace {

// Larger files are not read; their functions get no names.
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{1} << 30;
constexpr std::size_t kMostNameBytes = 4096;

// Parses a hexadecimal number at the beginning of `text` and removes it.
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

// Names without the prefix are C names and may look like an encoded type: "w" is wchar_t.
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

ElfFunctions::ElfFunctions(std::string_view file) {
  const auto image = ElfImage::open(file);
  if (!image) return;
  for (std::size_t i = 0; i < image->header().e_phnum; ++i)
    if (const auto s = image->segment(i); s && s->p_type == PT_LOAD)
      segments_.push_back({s->p_offset, s->p_filesz, s->p_vaddr});
  // Use the full symbol table if the file has one, else the table of exported symbols.
  for (const std::uint32_t table : {SHT_SYMTAB, SHT_DYNSYM}) {
    if (!functions_.empty()) break;
    image->each_symbol(table, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0)
        functions_.push_back(
            {symbol.st_value, symbol.st_size, std::string(name.substr(0, kMostNameBytes))});
    });
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
