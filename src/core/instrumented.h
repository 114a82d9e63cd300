// REDZONE_ADDRESS_SANITIZER: defined in a file that is compiled with AddressSanitizer.
#pragma once

// The compiler says whether it instruments this file: clang by a feature, g++ by a macro.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDZONE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define REDZONE_ADDRESS_SANITIZER
#endif
