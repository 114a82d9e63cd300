# Builds that watch themselves, as scripts/fuzz makes one.
set(REDZONE_SANITIZE "" CACHE STRING
  "address: instrument everything for memory errors and undefined behaviour; empty: nothing")
option(REDZONE_FUZZ "Link the harnesses of tests/fuzz with libFuzzer; needs clang" OFF)

if(REDZONE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "REDZONE_FUZZ needs clang++: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  if(NOT REDZONE_SANITIZE STREQUAL "address")
    message(FATAL_ERROR "REDZONE_FUZZ needs -DREDZONE_SANITIZE=address")
  endif()
  # Coverage of what is not libFuzzer's.
  add_compile_options(-fsanitize=fuzzer-no-link)
  # A harness runs on machines without clang and without this libstdc++.
  add_link_options(-static-libstdc++ -static-libgcc -Wl,--compress-debug-sections=zlib)
endif()

if(REDZONE_SANITIZE STREQUAL "address")
  set(redzone_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(REDZONE_SANITIZE)
  message(FATAL_ERROR "REDZONE_SANITIZE is '${REDZONE_SANITIZE}': address or empty")
endif()
if(REDZONE_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -g1")
  add_compile_options(${redzone_sanitizers} -fno-omit-frame-pointer)
  add_link_options(${redzone_sanitizers})
endif()
