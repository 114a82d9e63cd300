#include "target/code_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <vector>

namespace redzone {

Result<std::string> code_hash(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto bytes = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  std::vector<char> text(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  in.seekg(0);
  if (bytes < 0 || !in.read(text.data(), bytes))
    return usage_error(fmt::format("plugin {}: cannot be read", file.string()));
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace redzone
