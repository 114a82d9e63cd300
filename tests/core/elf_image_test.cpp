// ELF files: this program, and what is left of one that is damaged.
#include "core/elf_image.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/read_file.h"

namespace redzone {
namespace {

template <class T>
void put(std::string& bytes, std::size_t at, const T& value) {
  bytes.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

// A file with the symbols "f" and "long_name", their names, and a section without bytes.
std::string small_file() {
  const std::string names("\0f\0long_name\0", 13);
  constexpr std::size_t kNames = sizeof(Elf64_Ehdr), kSymbols = kNames + 16,
                        kSections = kSymbols + 2 * sizeof(Elf64_Sym);
  std::string bytes(kSections + 3 * sizeof(Elf64_Shdr), '\0');
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = kSections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  put(bytes, 0, header);
  bytes.replace(kNames, names.size(), names);
  Elf64_Sym f = {}, other = {};
  f.st_name = 1;
  other.st_name = 3;
  put(bytes, kSymbols, f);
  put(bytes, kSymbols + sizeof f, other);
  Elf64_Shdr symbols = {}, strings = {}, empty = {};
  symbols.sh_type = SHT_SYMTAB;
  symbols.sh_offset = kSymbols;
  symbols.sh_size = 2 * sizeof(Elf64_Sym);
  symbols.sh_link = 1;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = kNames;
  strings.sh_size = names.size();
  empty.sh_type = SHT_NOBITS;
  empty.sh_size = 1 << 20;
  put(bytes, kSections, symbols);
  put(bytes, kSections + sizeof symbols, strings);
  put(bytes, kSections + 2 * sizeof symbols, empty);
  return bytes;
}

std::set<std::string> names_in(std::string_view file) {
  std::set<std::string> names;
  if (const auto image = ElfImage::open(file))
    image->each_symbol(SHT_SYMTAB,
                       [&](const Elf64_Sym&, std::string_view name) { names.emplace(name); });
  return names;
}

TEST(ElfImage, ListsSymbols) {
  EXPECT_EQ(names_in(small_file()), (std::set<std::string>{"f", "long_name"}));
}

TEST(ElfImage, ASectionWithoutBytesHasNoContents) {
  const std::string file = small_file();
  const auto image = ElfImage::open(file);
  ASSERT_TRUE(image.has_value());
  EXPECT_FALSE(image->contents(image->section(2).value()).has_value());
  EXPECT_FALSE(image->section(3).has_value());
}

TEST(ElfImage, NamesAreCut) {
  constexpr std::string_view kTwo("ab\0cd", 5);
  EXPECT_EQ(ElfImage::name_at(kTwo, 0), "ab");
  EXPECT_EQ(ElfImage::name_at(kTwo, 3), "cd") << "the table has no end";
  EXPECT_FALSE(ElfImage::name_at("ab", 2).has_value());
  const std::string long_name(20'000, 'c');
  EXPECT_EQ(ElfImage::name_at(long_name, 1)->size(), std::size_t{16} << 10);
}

TEST(ElfImage, HeadersElsewhereAreNotThere) {
  Elf64_Ehdr header;
  const std::string good = small_file();
  std::memcpy(&header, good.data(), sizeof header);
  const auto changed = [&](auto change) {
    Elf64_Ehdr other = header;
    change(other);
    std::string file = good;
    put(file, 0, other);
    return names_in(file).size();
  };
  EXPECT_EQ(changed([](auto&) {}), 2u);
  EXPECT_EQ(changed([](auto& h) { h.e_shentsize = 63; }), 0u);
  EXPECT_EQ(changed([](auto& h) { h.e_shoff = ~std::uint64_t{0} - 8; }), 0u);
  EXPECT_EQ(changed([](auto& h) { h.e_shnum = 1; }), 0u) << "the names are of section 1";
}

TEST(ElfImage, OtherFilesAreNone) {
  EXPECT_FALSE(ElfImage::open("").has_value());
  EXPECT_FALSE(ElfImage::open("#!/bin/sh\n").has_value());
  std::string file = small_file();
  file[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(ElfImage::open(file).has_value());
}

TEST(ElfImage, ReadsThisProgram) {
  const auto file = read_file("/proc/self/exe");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_TRUE(names_in(*file).contains("main"));
}

// A read beyond the file ends this test under a sanitizer.
RC_GTEST_PROP(ElfImage, ADamagedFileNamesOnlyWhatItHolds, ()) {
  std::string file = small_file();
  const auto changes = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, file.size()), rc::gen::arbitrary<char>()));
  for (const auto& [at, byte] : changes) file[at] = byte;
  file.resize(*rc::gen::inRange<std::size_t>(0, file.size() + 1));
  for (const auto& name : names_in(file)) RC_ASSERT(file.find(name) != std::string::npos);
}

}  // namespace
}  // namespace redzone
