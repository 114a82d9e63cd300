// Reads 64-bit little-endian ELF files: programs and libraries of this machine, and GPU code. Files
// may be damaged or hostile: parts beyond the end of the file are reported as absent.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace redzone {

// The bytes [at, at + size) of `bytes`; absent if the range exceeds them.
inline std::optional<std::string_view> part_of(std::string_view bytes, std::uint64_t at,
                                               std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.substr(at, size);
}

// The object at offset `at`, which need not be aligned.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t at) {
  const auto part = part_of(bytes, at, sizeof(T));
  if (!part) return std::nullopt;
  T out;
  std::memcpy(&out, part->data(), sizeof out);
  return out;
}

class ElfImage {
 public:
  // `file`: the whole file, which the image borrows. Absent if it is not a 64-bit little-endian ELF
  // file.
  static std::optional<ElfImage> open(std::string_view file);

  const Elf64_Ehdr& header() const { return header_; }
  std::optional<Elf64_Shdr> section(std::size_t i) const;
  std::optional<Elf64_Phdr> segment(std::size_t i) const;
  // The bytes of the section; absent also for a section without bytes in the file, such as .bss.
  std::optional<std::string_view> contents(const Elf64_Shdr& section) const;

  // Calls visit(const Elf64_Sym&, std::string_view name) for each symbol of the first table of this
  // type (SHT_SYMTAB or SHT_DYNSYM) whose name begins within the file. Does nothing if there is no
  // such table.
  template <class Visit>
  void each_symbol(std::uint32_t type, Visit visit) const {
    const auto table = symbols(type);
    if (!table) return;
    for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(table->symbols, at);
         at += sizeof(Elf64_Sym))
      if (const auto name = name_at(table->names, symbol->st_name)) visit(*symbol, *name);
  }
  // The name at an offset of a string table, cut to 16 KiB; absent if it begins outside the table.
  static std::optional<std::string_view> name_at(std::string_view names, std::uint64_t at);

 private:
  struct SymbolTable {
    std::string_view symbols, names;
  };

  ElfImage(std::string_view file, const Elf64_Ehdr& header) : file_(file), header_(header) {}
  std::optional<SymbolTable> symbols(std::uint32_t type) const;

  std::string_view file_;
  Elf64_Ehdr header_;
};

}  // namespace redzone
