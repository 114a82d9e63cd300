#include "package/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/elf_image.h"

namespace redzone::package {
namespace {

// A kernel has at most 32764 bytes of parameters (CUDA C++ Programming Guide, "Kernel Parameters").
constexpr std::size_t kMostParameters = 32764;

// Records of the section .nv.info.KERNEL: format, attribute, and a 16-bit value, which for format
// `sized` is the number of bytes that follow. Names as printed by `cuobjdump -elf`.
enum class Format : std::uint8_t { sized = 4 };
enum class Attribute : std::uint8_t {
  block = 0x10,      // EIATTR_REQNTID: x, y, z
  parameter = 0x17,  // EIATTR_KPARAM_INFO: index, ordinal | offset << 16, flags | bytes << 18
  cluster = 0x3d,    // EIATTR_CTA_PER_CLUSTER: x, y, z
};

struct Problem {
  std::string what;
};

// Returns the value; throws if the file is cut off.
template <class T>
T whole(const std::optional<T>& found) {
  if (!found) throw Problem{"is cut off"};
  return *found;
}

template <class T>
T at(std::string_view bytes, std::size_t offset) {
  return whole(read_at<T>(bytes, offset));
}

ElfImage image_of(std::string_view file) {
  if (file.substr(0, SELFMAG) != ELFMAG) throw Problem{"is not an ELF file"};
  if (file.size() < sizeof(Elf64_Ehdr)) throw Problem{"is cut off"};
  const auto image = ElfImage::open(file);
  if (!image || image->header().e_machine != EM_CUDA)
    throw Problem{"is not a 64-bit CUDA ELF file"};
  if (image->header().e_shentsize != sizeof(Elf64_Shdr))
    throw Problem{"has section headers of a wrong size"};
  return *image;
}

// The bits of e_flags changed with version 8 of the ABI (LLVM's ELF.h: ELFABIVERSION_CUDA_V2).
int arch_of(const Elf64_Ehdr& header) {
  const bool moved = header.e_ident[EI_ABIVERSION] >= 8;
  return static_cast<int>((moved ? header.e_flags >> 8 : header.e_flags) & 0xff);
}

// Checks that all sections named in the headers are present: a truncated file may still contain
// what is read here, and the driver reports only "invalid" for the rest.
void check_whole(std::string_view file, const ElfImage& image) {
  const Elf64_Ehdr& header = image.header();
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto s = whole(image.section(i));
    if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL) whole(image.contents(s));
  }
  if (header.e_phnum == 0) return;
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    throw Problem{"has program headers of a wrong size"};
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = whole(image.segment(i));
    whole(part_of(file, segment.p_offset, segment.p_filesz));
  }
}

// The contents of the section `name`, which are empty if they are not in the file (SHT_NOBITS);
// nullopt if there is no such section.
std::optional<std::string_view> section(const ElfImage& image, std::string_view name) {
  const auto names = whole(image.contents(whole(image.section(image.header().e_shstrndx))));
  for (std::size_t i = 0; i < image.header().e_shnum; ++i) {
    const auto s = whole(image.section(i));
    const auto text = ElfImage::name_at(names, s.sh_name);
    if (!text) throw Problem{"has a section whose name is out of bounds"};
    if (*text != name) continue;
    return s.sh_type == SHT_NOBITS ? std::string_view() : whole(image.contents(s));
  }
  return std::nullopt;
}

std::size_t volume(std::string_view payload) {
  // In 128 bits, because each of the three 32-bit factors may have any value in a broken file.
  const auto product = static_cast<unsigned __int128>(at<std::uint32_t>(payload, 0)) *
                       at<std::uint32_t>(payload, 4) * at<std::uint32_t>(payload, 8);
  return static_cast<std::size_t>(std::min<unsigned __int128>(product, SIZE_MAX));
}

void read_info(std::string_view info, CubinFacts& facts) {
  std::vector<std::optional<std::size_t>> parameters;
  for (std::size_t i = 0; i < info.size();) {
    const auto format = at<std::uint8_t>(info, i);
    const auto attribute = static_cast<Attribute>(at<std::uint8_t>(info, i + 1));
    const auto value = at<std::uint16_t>(info, i + 2);
    i += 4;
    if (format != static_cast<std::uint8_t>(Format::sized)) continue;
    const auto payload = whole(part_of(info, i, value));
    i += value;
    if (attribute == Attribute::block) facts.block_threads = volume(payload);
    if (attribute == Attribute::cluster) facts.cluster_ctas = volume(payload);
    if (attribute != Attribute::parameter) continue;
    const auto ordinal = at<std::uint16_t>(payload, 4);
    if (ordinal >= kMostParameters) throw Problem{"has a parameter with an impossible number"};
    if (parameters.size() <= ordinal) parameters.resize(ordinal + std::size_t{1});
    if (parameters[ordinal]) throw Problem{fmt::format("declares parameter {} twice", ordinal)};
    parameters[ordinal] = at<std::uint32_t>(payload, 8) >> 18;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i]) throw Problem{fmt::format("does not declare parameter {}", i)};
    facts.parameter_bytes.push_back(*parameters[i]);
  }
}

}  // namespace

tl::expected<CubinFacts, std::string> read_cubin(std::string_view file, std::string_view kernel) {
  try {
    const ElfImage image = image_of(file);
    check_whole(file, image);
    CubinFacts facts;
    facts.arch = arch_of(image.header());
    if (!section(image, fmt::format(".text.{}", kernel)))
      return tl::unexpected(fmt::format("has no kernel '{}'", kernel));
    // Kernels without parameters have the section, too, because it contains the number of
    // registers.
    const auto info = section(image, fmt::format(".nv.info.{}", kernel));
    if (!info) return tl::unexpected(fmt::format("does not describe kernel '{}'", kernel));
    read_info(*info, facts);
    return facts;
  } catch (const Problem& e) {
    return tl::unexpected(e.what);
  }
}

}  // namespace redzone::package
