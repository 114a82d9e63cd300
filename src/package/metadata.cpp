#include "package/metadata.h"

#include <fmt/format.h>

#include <bit>
#include <optional>

#include "core/document.h"
#include "core/read_file.h"
#include "core/table_reader.h"

namespace redzone::package {
namespace {

constexpr std::size_t kMostCubinBytes = std::size_t{64} << 20;
constexpr std::size_t kMostMetadataBytes = std::size_t{1} << 20;

// Maximum size in the metadata; larger values indicate a broken file.
constexpr std::int64_t kMostScratchBytes = std::int64_t{1} << 40;

// Maximum shared memory of a block, in bytes, by compute capability (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability"); nullopt if the table has no entry.
std::optional<std::int64_t> shared_limit(int arch) {
  switch (arch) {
    case 75:
      return 64 << 10;
    case 80:
    case 87:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121:
      return 99 << 10;
    case 90:
    case 100:
    case 101:
    case 103:
      return 227 << 10;
    default:
      return std::nullopt;
  }
}

template <class T>
T or_throw(Result<T> result) {
  if (!result) throw FieldError(result.error().message);
  return std::move(*result);
}

ScratchRule read_scratch(TableReader& f, const std::string& which) {
  ScratchRule rule;
  rule.bytes = static_cast<std::size_t>(f.integer_in(which + "_size", 0, kMostScratchBytes));
  const auto align = f.integer_in(which + "_align", 1, 1 << 20);
  rule.align = static_cast<std::size_t>(align);
  if (!std::has_single_bit(rule.align))
    throw f.error(which + "_align", fmt::format("{} is not a power of two", align));
  return rule;
}

void read_metadata(TableReader f, const Package& package, Compiled& out) {
  if (const auto name = f.text("name"); name != package.kernel)
    throw f.error("name", fmt::format("'{}', but target.toml names '{}'", name, package.kernel));
  TableReader target = f.table("target");
  if (const auto backend = target.text("backend"); backend != "cuda")
    throw target.error("backend", fmt::format("'{}', but 'cuda' is expected", backend));
  if (const auto arch = target.integer("arch"); arch != package.arch)
    throw target.error("arch", fmt::format("{}, but target.toml says {}", arch, package.arch));
  if (const auto warp = f.integer("warp_size"); warp != 32)
    throw f.error("warp_size", fmt::format("{}, but a warp has 32 threads", warp));
  out.warps = static_cast<int>(f.integer_in("num_warps", 1, 32));
  out.ctas = static_cast<int>(f.integer_in("num_ctas", 1, 16));
  const auto shared = f.integer_in("shared", 0, std::int64_t{1} << 30);
  if (const auto most = shared_limit(package.arch); most && shared > *most)
    throw f.error("shared", fmt::format("needs {} bytes of shared memory, sm_{} has {}", shared,
                                        package.arch, *most));
  out.shared_bytes = static_cast<std::size_t>(shared);
  out.global = read_scratch(f, "global_scratch");
  out.profile = read_scratch(f, "profile_scratch");
  out.cooperative = f.flag("launch_cooperative_grid");
  out.dependent = f.flag("launch_pdl");
  if (!f.list("tensordesc_meta").empty())
    throw f.error("tensordesc_meta", "the kernel takes descriptors, and target.toml has none");

  const auto threads = static_cast<std::size_t>(out.warps) * 32;
  if (out.facts.block_threads != 0 && out.facts.block_threads != threads)
    throw f.error("num_warps", fmt::format("{}, but the cubin is for blocks of {} threads",
                                           out.warps, out.facts.block_threads));
  const std::size_t cluster = out.facts.cluster_ctas == 0 ? 1 : out.facts.cluster_ctas;
  if (cluster != static_cast<std::size_t>(out.ctas))
    throw f.error("num_ctas",
                  fmt::format("{}, but the cubin is for clusters of {}", out.ctas, cluster));
}

struct Files {
  Files(const Package& package, const std::string& file)
      : cubin(package.folder / "cubin" / (file + ".cubin")),
        json(package.folder / "cubin" / (file + ".json")) {}
  std::filesystem::path cubin, json;
};

}  // namespace

Compiled read_compiled(const Package& package, const std::string& file, std::string& all_bytes) {
  const Files files(package, file);
  std::string image = or_throw(read_file(files.cubin, kMostCubinBytes));
  const std::string text = or_throw(read_file(files.json, kMostMetadataBytes));
  Compiled out = compiled_of(package, file, std::move(image), text);
  all_bytes += fmt::format("{}:{}:{}:", file, out.image.size(), text.size()) + out.image + text;
  return out;
}

Compiled compiled_of(const Package& package, const std::string& file, std::string image,
                     std::string_view metadata) {
  const Files files(package, file);
  Compiled out;
  out.file = file;
  out.image = std::move(image);
  auto facts = read_cubin(out.image, package.kernel);
  if (!facts) throw FieldError(fmt::format("{}: {}", files.cubin.string(), facts.error()));
  out.facts = std::move(*facts);
  if (out.facts.arch != package.arch)
    throw FieldError(fmt::format("{}: architecture: sm_{}, but target.toml says {}",
                                 files.cubin.string(), out.facts.arch, package.arch));
  const Document document = or_throw(read_json(metadata, files.json.string()));
  read_metadata(TableReader(document), package, out);
  return out;
}

}  // namespace redzone::package
