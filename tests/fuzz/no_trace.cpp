// Replaces the libFuzzer functions of these names (--wrap), which compiled code calls at each
// comparison.
#include <cstdint>

extern "C" {

#define RZ_NO_TRACE(bytes, type)                              \
  void __wrap___sanitizer_cov_trace_cmp##bytes(type, type) {} \
  void __wrap___sanitizer_cov_trace_const_cmp##bytes(type, type) {}
RZ_NO_TRACE(1, std::uint8_t)
RZ_NO_TRACE(2, std::uint16_t)
RZ_NO_TRACE(4, std::uint32_t)
RZ_NO_TRACE(8, std::uint64_t)
void __wrap___sanitizer_cov_trace_switch(std::uint64_t, std::uint64_t*) {}
}
