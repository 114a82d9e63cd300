// Names of compiled variants.
#pragma once

#include <redzone/target.h>

#include <string>
#include <string_view>

namespace redzone::device::cuda {

// Differs if source, expression or options differ.
std::string variant_key(const VariantRequest& request);

// Name of a file in the disk cache: identifies `key` compiled by this NVRTC, with this
// <redzone/kernel.h>, for this architecture.
std::string compiled_key(std::string_view key, std::string_view nvrtc_version,
                         std::string_view arch, std::string_view header);

// 32 hex digits of the bytes.
std::string content_hash(std::string_view bytes);

}  // namespace redzone::device::cuda
