# redzone_plugin(NAME SOURCES a.cu b.cu [NO_CUDA])
#
# Compiles the same CUDA C++ sources twice: by g++ for the host device into NAME.host.so, and, if
# nvcc was found, by nvcc into NAME.cuda.so. Both are written to build/lib/redzone/targets.
function(redzone_plugin name)
  cmake_parse_arguments(arg "NO_CUDA" "" "SOURCES;INCLUDES" ${ARGN})

  # g++ must see the .cu files as C++: each is included by a one-line .cpp of its own.
  set(host_sources)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(full ${source} ABSOLUTE)
    get_filename_component(stem ${source} NAME_WE)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${name}.host/${stem}.cpp)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${full}\"\n")
    list(APPEND host_sources ${wrapper})
  endforeach()
  add_library(${name}_host MODULE ${host_sources})
  redzone_plugin_common(${name}_host ${name}.host "${arg_INCLUDES}")
  target_compile_options(${name}_host PRIVATE -Wno-unused-parameter -Wno-unknown-pragmas -Wno-psabi)

  if(REDZONE_HAVE_CUDA AND NOT arg_NO_CUDA)
    add_library(${name}_cuda MODULE ${arg_SOURCES})
    set_source_files_properties(${arg_SOURCES} PROPERTIES LANGUAGE CUDA)
    redzone_plugin_common(${name}_cuda ${name}.cuda "${arg_INCLUDES}")
  endif()
endfunction()

function(redzone_plugin_common target output includes)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${output} LIBRARY_OUTPUT_DIRECTORY ${REDZONE_PLUGIN_DIR}
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
  target_include_directories(${target} PRIVATE
    ${CMAKE_SOURCE_DIR}/src/core/public ${CMAKE_SOURCE_DIR}/src/target/public ${includes})
  set_property(GLOBAL APPEND PROPERTY REDZONE_PLUGIN_TARGETS ${target})
endfunction()
