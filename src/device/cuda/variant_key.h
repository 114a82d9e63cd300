// Names of compiled variants.
#pragma once

#include <redzone/target.h>

#include <string>
#include <string_view>

namespace redzone::device::cuda {

// Differs whenever source, expression or options do.
std::string variant_key(const VariantRequest& request);

// Of `key` compiled by this NVRTC, with this <redzone/kernel.h>, for this architecture: names a
// file of the disk cache.
std::string compiled_key(std::string_view key, std::string_view nvrtc_version,
                         std::string_view arch, std::string_view header);

// 32 hex digits of the bytes.
std::string content_hash(std::string_view bytes);

}  // namespace redzone::device::cuda
