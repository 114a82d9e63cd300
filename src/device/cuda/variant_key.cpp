#include "device/cuda/variant_key.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace redzone::device::cuda {
namespace {

// Parts are prefixed with their length, so that different lists of parts hash different texts.
void append(std::string& text, std::string_view part) {
  text += fmt::format("{}:", part.size());
  text += part;
}

}  // namespace

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

VariantId variant_id(const VariantRequest& request) {
  const std::string_view code = request.image.empty() ? request.source : request.image;
  const XXH128_hash_t of_code = XXH3_128bits(code.data(), code.size());
  std::string text;
  text.reserve(256);
  const auto add = [&](const auto& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto add_part = [&](std::string_view part) {
    add(part.size());
    text += part;
  };
  add(of_code);
  add(request.image.empty());
  add_part(request.expression);
  for (const auto& option : request.options) add_part(option);
  const XXH128_hash_t all = XXH3_128bits(text.data(), text.size());
  return {all.low64, all.high64};
}

std::string variant_key(const VariantRequest& request) {
  std::string text = content_hash(request.image.empty() ? request.source : request.image);
  append(text, request.expression);
  if (!request.image.empty()) append(text, "compiled before");
  for (const auto& option : request.options) append(text, option);
  return content_hash(text);
}

std::string compiled_key(std::string_view key, std::string_view nvrtc_version,
                         std::string_view arch, std::string_view header) {
  std::string text;
  append(text, key);
  append(text, nvrtc_version);
  append(text, arch);
  append(text, header);
  return content_hash(text);
}

}  // namespace redzone::device::cuda
