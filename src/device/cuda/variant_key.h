// Names of compiled variants.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace redzone::device::cuda {

// Identifies a variant in this process. It is faster to compute than the key, which names files:
// each call of a target requests its kernels.
struct VariantId {
  std::uint64_t low = 0, high = 0;
  bool operator==(const VariantId&) const = default;
  struct Hash {
    std::size_t operator()(const VariantId& id) const { return id.low; }
  };
};

// Both results differ if source, expression or options differ.
VariantId variant_id(const VariantRequest& request);
std::string variant_key(const VariantRequest& request);

// Name of a file in the disk cache: identifies `key` compiled by this NVRTC, with this
// <redzone/kernel.h>, for this architecture.
std::string compiled_key(std::string_view key, std::string_view nvrtc_version,
                         std::string_view arch, std::string_view header);

// 32 hex digits of the bytes.
std::string content_hash(std::string_view bytes);

}  // namespace redzone::device::cuda
