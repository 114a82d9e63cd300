// REDZONE_ADDRESS_SANITIZER: defined in a file that is compiled with AddressSanitizer.
#pragma once

// Clang reports instrumentation by a feature, g++ by a macro.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDZONE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define REDZONE_ADDRESS_SANITIZER
#endif
