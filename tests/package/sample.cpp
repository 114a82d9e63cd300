#include "package/sample.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace redzone::package::test {
namespace {

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void record(std::string& out, int attribute, const std::vector<std::uint32_t>& words) {
  out += static_cast<char>(4);
  out += static_cast<char>(attribute);
  append(out, static_cast<std::uint16_t>(4 * words.size()));
  for (const auto word : words) append(out, word);
}

// The section .nv.info.add, with the parameters in descending order as ptxas writes them.
std::string info(const CubinParts& parts) {
  std::string out;
  std::uint32_t offset = 0;
  std::vector<std::uint32_t> offsets;
  for (const auto bytes : parts.parameter_bytes) {
    offset = (offset + static_cast<std::uint32_t>(bytes) - 1) / static_cast<std::uint32_t>(bytes) *
             static_cast<std::uint32_t>(bytes);
    offsets.push_back(offset);
    offset += static_cast<std::uint32_t>(bytes);
  }
  for (std::size_t i = offsets.size(); i-- > 0;)
    record(out, 0x17,
           {0, static_cast<std::uint32_t>(i) | offsets[i] << 16,
            static_cast<std::uint32_t>(parts.parameter_bytes[i]) << 18 | 0x1f000});
  // A record without a payload.
  out += std::string("\x03\x1b\xff\x00", 4);
  record(out, 0x10, {static_cast<std::uint32_t>(parts.block_threads), 1, 1});
  if (parts.cluster_ctas != 1)
    record(out, 0x3d, {static_cast<std::uint32_t>(parts.cluster_ctas), 1, 1});
  return out;
}

}  // namespace

std::string cubin(const CubinParts& parts) {
  const std::vector<std::pair<std::string, std::string>> sections{
      {"", ""}, {".shstrtab", ""}, {".nv.info.add", info(parts)}, {".text.add", "code"}};
  std::string names;
  std::vector<Elf64_Shdr> headers;
  for (const auto& [name, contents] : sections) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = name.empty() ? SHT_NULL : SHT_PROGBITS;
    names += name + '\0';
    headers.push_back(header);
  }
  Elf64_Ehdr elf = {};
  std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
  elf.e_ident[EI_CLASS] = ELFCLASS64;
  elf.e_ident[EI_DATA] = ELFDATA2LSB;
  elf.e_ident[EI_ABIVERSION] = static_cast<unsigned char>(parts.abi_version);
  elf.e_type = ET_EXEC;
  elf.e_machine = EM_CUDA;
  elf.e_flags = static_cast<Elf64_Word>(parts.abi_version >= 8 ? parts.arch << 8 : parts.arch);
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shnum = static_cast<Elf64_Half>(sections.size());
  elf.e_shstrndx = 1;
  std::string body;
  for (std::size_t i = 1; i < sections.size(); ++i) {
    const std::string& contents = i == 1 ? names : sections[i].second;
    headers[i].sh_offset = sizeof elf + body.size();
    headers[i].sh_size = contents.size();
    body += contents;
  }
  elf.e_shoff = sizeof elf + body.size();
  std::string out;
  append(out, elf);
  out += body;
  for (const auto& header : headers) append(out, header);
  return out;
}

std::string metadata(int ctas) {
  return fmt::format(
      R"({{"name": "add", "target": {{"backend": "cuda", "arch": 90, "warp_size": 32}},
 "num_warps": 4, "num_ctas": {}, "warp_size": 32, "shared": 57344, "tensordesc_meta": [],
 "global_scratch_size": 384, "global_scratch_align": 128,
 "profile_scratch_size": 0, "profile_scratch_align": 1,
 "launch_cooperative_grid": false, "launch_pdl": false}})",
      ctas);
}

std::string description() {
  std::string text = R"toml(redzone_package = 1
name = "test.add"
doc = "adds"
kernel = "add"
triton = "3.6.0"
arch = 90
reference = ""
deterministic = true
work = "R * N"
grid = ["grid_is_persistent ? min(floordiv(num_sms, num_ctas), cdiv(N, BLOCK)) : cdiv(N, BLOCK)", "R", "1"]

[[dim]]
name = "R"
values = [1, 3, 8]

[[dim]]
name = "N"
min = 1
max = 4096
multiple_of = 1
tile = 128
doc = "columns"

[[constraint]]
kind = "at_most"
a = "R"
b = "N"

[[tensor]]
name = "x"
dtype = "f32"
role = "in"
shape = ["R", "N"]
fill = { kind = "uniform", lo = -1.0, hi = 1.0 }
align_bytes = 4

[[tensor]]
name = "y"
dtype = "f32"
role = "out"
shape = ["R", "N"]
align_bytes = 16
tolerance = { abs = 0.0, rel = 1e-06 }

[[knob]]
name = "BLOCK"
values = [128, 256]
tune = true

[[knob]]
name = "grid"
values = ["flat", "persistent"]

[[knob]]
name = "num_ctas"
values = [1, 2]
tune = true

[[argument]]
name = "x"
kind = "tensor"
type = "*fp32"
value = "x"

[[argument]]
name = "y"
kind = "tensor"
type = "*fp32"
value = "y"

[[argument]]
name = "n"
kind = "int"
type = "i32"
value = "N"

[[argument]]
name = "rows"
kind = "int"
type = "i64"
value = "R"

[[argument]]
name = "factor"
kind = "float"
type = "fp32"
value = 1.5

[[argument]]
name = "BLOCK"
kind = "constexpr"
value = "BLOCK"

[[argument]]
name = "RDIM"
kind = "constexpr"
value = "next_power_of_2(R)"
)toml";
  for (const int block : {128, 256})
    for (const char* grid : {"flat", "persistent"})
      for (const int ctas : {1, 2})
        for (const int rdim : {1, 4, 8})
          for (const std::string n : {"1", "16", "other"})
            for (const char* x : {"16", "other"})
              text += fmt::format(
                  R"toml(
[[variant]]
file = "add.{}{}"
knobs = {{ BLOCK = {}, grid = "{}", num_ctas = {} }}
constants = {{ BLOCK = {}, RDIM = {} }}
classes = {{ x = "{}", y = "16", n = "{}" }}
dropped = [{}"BLOCK", "RDIM"]
)toml",
                  ctas, n == "1" ? "one" : "", block, grid, ctas, block, rdim, x, n,
                  n == "1" ? "\"n\", " : "");
  return text;
}

SamplePackage::SamplePackage() {
  std::filesystem::create_directory(folder() / "cubin");
  write("target.toml", description());
  for (const int ctas : {1, 2})
    for (const bool one : {false, true}) {
      CubinParts parts;
      parts.parameter_bytes = {8, 8};
      if (!one) parts.parameter_bytes.push_back(4);
      for (const std::size_t bytes : {8, 4, 8, 8}) parts.parameter_bytes.push_back(bytes);
      parts.cluster_ctas = static_cast<std::size_t>(ctas);
      const std::string stem = fmt::format("cubin/add.{}{}", ctas, one ? "one" : "");
      write(stem + ".cubin", cubin(parts));
      write(stem + ".json", metadata(ctas));
    }
}

void SamplePackage::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder() / name, std::ios::binary) << text;
}

std::string SamplePackage::read(const std::string& name) const {
  std::ifstream in(folder() / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void SamplePackage::edit(const std::string& name, const std::string& from,
                         const std::string& to) const {
  std::string text = read(name);
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  write(name, text.replace(at, from.size(), to));
}

}  // namespace redzone::package::test
