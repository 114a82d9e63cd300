# Flags of builds with sanitizers. The presets asan and tsan of CMakePresets.json, used by
# scripts/sanitize and scripts/fuzz, turn them on; no script sets such a flag itself.
set(REDZONE_SANITIZE "" CACHE STRING
  "address: instrument everything for memory errors and undefined behaviour; thread: for data races; empty: nothing")
option(REDZONE_FUZZ "Link the harnesses of tests/fuzz with libFuzzer; needs clang" OFF)

if(REDZONE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "REDZONE_FUZZ needs clang++: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  if(NOT REDZONE_SANITIZE STREQUAL "address")
    message(FATAL_ERROR "REDZONE_FUZZ needs -DREDZONE_SANITIZE=address")
  endif()
  # Coverage for code outside of libFuzzer, and a build that is identical in every checkout.
  add_compile_options(-fsanitize=fuzzer-no-link -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
endif()

if(REDZONE_SANITIZE STREQUAL "address")
  set(redzone_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(REDZONE_SANITIZE STREQUAL "thread")
  set(redzone_sanitizers -fsanitize=thread)
elseif(REDZONE_SANITIZE)
  message(FATAL_ERROR "REDZONE_SANITIZE is '${REDZONE_SANITIZE}': address, thread or empty")
endif()
if(REDZONE_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
  # nvcc supports none of them.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${redzone_sanitizers};-fno-omit-frame-pointer>")
  add_link_options(${redzone_sanitizers})
endif()
