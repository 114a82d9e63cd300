// Reads the architecture and the parameters of a compiled kernel. Parses the ELF image without a
// GPU, and never reads beyond its end, even for malformed input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace redzone::package {

struct CubinFacts {
  int arch = 0;                              // 90 for sm_90 and sm_90a
  std::vector<std::size_t> parameter_bytes;  // of each parameter of the kernel, in order
  // The threads of the block that the kernel was compiled for, and the CTAs of its cluster; 0: any.
  std::size_t block_threads = 0;
  std::size_t cluster_ctas = 0;
};

// An error is one clause: "is no ELF file", "has no kernel 'scale'".
tl::expected<CubinFacts, std::string> read_cubin(std::string_view image, std::string_view kernel);

}  // namespace redzone::package
