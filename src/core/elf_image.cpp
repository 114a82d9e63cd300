#include "core/elf_image.h"

namespace redzone {
namespace {

// The end of each name is searched for within this limit, because a damaged table may lack it.
constexpr std::size_t kMostNameBytes = std::size_t{16} << 10;

// Entry `i` of a table of headers.
template <class T>
std::optional<T> entry(std::string_view file, std::uint64_t table, std::size_t entry_bytes,
                       std::size_t count, std::size_t i) {
  if (i >= count || entry_bytes != sizeof(T) || table > file.size()) return std::nullopt;
  return read_at<T>(file, table + i * sizeof(T));
}

}  // namespace

std::optional<ElfImage> ElfImage::open(std::string_view file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  return ElfImage(file, *header);
}

std::optional<Elf64_Shdr> ElfImage::section(std::size_t i) const {
  return entry<Elf64_Shdr>(file_, header_.e_shoff, header_.e_shentsize, header_.e_shnum, i);
}

std::optional<Elf64_Phdr> ElfImage::segment(std::size_t i) const {
  return entry<Elf64_Phdr>(file_, header_.e_phoff, header_.e_phentsize, header_.e_phnum, i);
}

std::optional<std::string_view> ElfImage::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return std::nullopt;
  return part_of(file_, section.sh_offset, section.sh_size);
}

std::optional<std::string_view> ElfImage::name_at(std::string_view names, std::uint64_t at) {
  if (at >= names.size()) return std::nullopt;
  const auto text = names.substr(at, kMostNameBytes);
  return text.substr(0, text.find('\0'));
}

std::optional<ElfImage::SymbolTable> ElfImage::symbols(std::uint32_t type) const {
  for (std::size_t i = 0; i < header_.e_shnum; ++i) {
    const auto table = section(i);
    if (!table || table->sh_type != type) continue;
    const auto strings = section(table->sh_link);
    const auto entries = contents(*table);
    const auto names = strings ? contents(*strings) : std::nullopt;
    if (entries && names) return SymbolTable{*entries, *names};
  }
  return std::nullopt;
}

}  // namespace redzone
