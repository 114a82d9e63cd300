# Third-party libraries. They are linked statically, or copied into the build, so that the build folder
# can be copied to a machine that has none of them.
set(Boost_USE_STATIC_LIBS ON)
set(Boost_NO_WARN_NEW_VERSIONS ON)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options context)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Threads REQUIRED)
if(REDZONE_TESTS)
  find_package(GTest REQUIRED)
endif()

# Debian ships these as static archives, but no CMake package prefers those.
find_library(REDZONE_XXHASH libxxhash.a REQUIRED)
find_library(REDZONE_RAPIDCHECK librapidcheck.a REQUIRED)
find_library(REDZONE_SQLITECPP libSQLiteCpp.a REQUIRED)
find_library(REDZONE_SQLITE3 libsqlite3.a REQUIRED)
find_library(REDZONE_PUGIXML libpugixml.a REQUIRED)
find_path(REDZONE_PUGIXML_INCLUDE pugixml.hpp REQUIRED)
find_path(REDZONE_SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
find_path(REDZONE_TOMLPP_INCLUDE toml++/toml.h REQUIRED)
find_path(REDZONE_RAPIDCHECK_INCLUDE rapidcheck.h REQUIRED)

function(redzone_external name)
  cmake_parse_arguments(arg "" "" "INCLUDES;LIBRARIES" ${ARGN})
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${arg_INCLUDES})
  target_link_libraries(${name} INTERFACE ${arg_LIBRARIES})
endfunction()

redzone_external(rz_xxhash LIBRARIES ${REDZONE_XXHASH})
redzone_external(rz_rapidcheck INCLUDES ${REDZONE_RAPIDCHECK_INCLUDE} LIBRARIES ${REDZONE_RAPIDCHECK})
redzone_external(rz_sqlite LIBRARIES ${REDZONE_SQLITECPP} ${REDZONE_SQLITE3} m Threads::Threads ${CMAKE_DL_LIBS})
redzone_external(rz_pugixml INCLUDES ${REDZONE_PUGIXML_INCLUDE} LIBRARIES ${REDZONE_PUGIXML})
redzone_external(rz_toml INCLUDES ${REDZONE_TOMLPP_INCLUDE})

# fmt and muParser come as shared libraries only, and muParser needs libgomp: the build contains
# copies. Binaries find them relative to their own location, so that the folder can be moved. DT_RPATH
# and not DT_RUNPATH, because the latter does not apply to the dependencies of libmuparser.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
function(redzone_shared_copy file name)
  file(REAL_PATH ${file} real)
  configure_file(${real} ${CMAKE_BINARY_DIR}/lib/redzone/${name} COPYONLY)
endfunction()

# fmt as headers alone would be compiled again with each source: 2 s more of 5 s.
get_target_property(fmt_configurations fmt::fmt IMPORTED_CONFIGURATIONS)
list(GET fmt_configurations 0 fmt_configuration)
get_target_property(fmt_file fmt::fmt IMPORTED_LOCATION_${fmt_configuration})
get_target_property(fmt_name fmt::fmt IMPORTED_SONAME_${fmt_configuration})
if(fmt_name)
  redzone_shared_copy(${fmt_file} ${fmt_name})
  redzone_external(rz_fmt LIBRARIES ${CMAKE_BINARY_DIR}/lib/redzone/${fmt_name})
else()  # a static library
  redzone_external(rz_fmt LIBRARIES fmt::fmt)
endif()
target_link_options(rz_fmt INTERFACE LINKER:--disable-new-dtags)
# Its headers alone, in one source: Debian's library needs the fmt that it was built with.
redzone_external(rz_spdlog INCLUDES ${REDZONE_SPDLOG_INCLUDE} LIBRARIES rz_fmt Threads::Threads)
find_library(REDZONE_MUPARSER libmuparser.so.2 REQUIRED)
find_path(REDZONE_MUPARSER_INCLUDE muParser.h REQUIRED)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1
  OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
redzone_shared_copy(${REDZONE_MUPARSER} libmuparser.so.2)
redzone_shared_copy(${gomp} libgomp.so.1)
redzone_external(rz_muparser INCLUDES ${REDZONE_MUPARSER_INCLUDE}
  LIBRARIES ${CMAKE_BINARY_DIR}/lib/redzone/libmuparser.so.2)
target_link_options(rz_muparser INTERFACE LINKER:--disable-new-dtags)

# libbacktrace comes with GCC, in its own folder, whose other headers are of no use to clang.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libbacktrace.a
  OUTPUT_VARIABLE backtrace OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(backtrace_folder ${backtrace} DIRECTORY)
foreach(header backtrace.h backtrace-supported.h)
  configure_file(${backtrace_folder}/include/${header} ${CMAKE_BINARY_DIR}/include-backtrace/${header} COPYONLY)
endforeach()
redzone_external(rz_backtrace INCLUDES ${CMAKE_BINARY_DIR}/include-backtrace LIBRARIES ${backtrace})

# The CUDA side needs nvcc at build time. Without it everything else builds, and `redzone doctor`
# reports what is missing.
set(REDZONE_HAVE_CUDA OFF)
if(REDZONE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    endif()
    set(CMAKE_CUDA_FLAGS_RELEASE "-O2" CACHE STRING "" FORCE)  # asserts in kernels stay on
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    # CMake 3.25 does not support nvcc's flag for C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    set(REDZONE_HAVE_CUDA ON)
  else()
    message(STATUS "nvcc not found: building without the CUDA side")
  endif()
endif()
