# redzone_plugin(NAME SOURCES a.cu b.cu [TOGETHER n] [INCLUDES folders] [NO_CUDA])
#
# Compiles the same CUDA C++ sources twice: by g++ for the host device into NAME.host.so, and, if
# nvcc was found, by nvcc into NAME.cuda.so. Both are written to build/lib/redzone/targets. On demand
# (the target NAME_checked, or checked_plugins for all) also for `--checks`, into the folder `checked`
# there.
#
# TOGETHER compiles n sources as one, for many small ones: their headers take most of the time. Two
# sources must not define the same name in the same namespace then.
function(redzone_plugin name)
  cmake_parse_arguments(arg "NO_CUDA" "TOGETHER" "SOURCES;INCLUDES" ${ARGN})
  if(NOT arg_TOGETHER)
    set(arg_TOGETHER 1)
  endif()

  # g++ must see the .cu files as C++, so a .cpp includes them.
  redzone_plugin_wrappers(host_sources cpp ${CMAKE_CURRENT_BINARY_DIR}/${name}.host ${arg_TOGETHER} ${arg_SOURCES})
  add_library(${name}_host MODULE ${host_sources})
  redzone_plugin_common(${name}_host ${name}.host "${arg_INCLUDES}")
  target_compile_options(${name}_host PRIVATE -Wno-unused-parameter -Wno-unknown-pragmas -Wno-psabi)

  if(REDZONE_CHECKED_PLUGINS)
    add_library(${name}_checked MODULE EXCLUDE_FROM_ALL ${host_sources})
    redzone_plugin_common(${name}_checked ${name}.host "${arg_INCLUDES}")
    # Never older than the plugin: one that is is refused.
    set_target_properties(${name}_checked PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${REDZONE_PLUGIN_DIR}/checked
      LINK_DEPENDS $<TARGET_FILE:${name}_host>)
    add_dependencies(${name}_checked ${name}_host)
    target_compile_options(${name}_checked PRIVATE -Wno-unused-parameter -Wno-unknown-pragmas -Wno-psabi)
    redzone_checked_code(${name}_checked)
    add_dependencies(checked_plugins ${name}_checked)
  endif()

  if(REDZONE_HAVE_CUDA AND NOT arg_NO_CUDA)
    set(cuda_sources ${arg_SOURCES})
    if(arg_TOGETHER GREATER 1)
      redzone_plugin_wrappers(cuda_sources cu ${CMAKE_CURRENT_BINARY_DIR}/${name}.cuda ${arg_TOGETHER} ${arg_SOURCES})
    endif()
    add_library(${name}_cuda MODULE ${cuda_sources})
    set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CUDA)
    redzone_plugin_common(${name}_cuda ${name}.cuda "${arg_INCLUDES}")
  endif()
endfunction()

# redzone_plugin_wrappers(OUT SUFFIX FOLDER n sources...): writes files of FOLDER, each of which includes
# the next n sources and is named after the first.
function(redzone_plugin_wrappers out suffix folder together)
  set(wrappers)
  set(sources ${ARGN})
  while(sources)
    list(GET sources 0 first)
    get_filename_component(stem ${first} NAME_WE)
    set(text)
    foreach(i RANGE 1 ${together})
      if(sources)
        list(POP_FRONT sources source)
        get_filename_component(full ${source} ABSOLUTE)
        string(APPEND text "#include \"${full}\"\n")
      endif()
    endforeach()
    file(CONFIGURE OUTPUT ${folder}/${stem}.${suffix} CONTENT "${text}")
    list(APPEND wrappers ${folder}/${stem}.${suffix})
  endwhile()
  set(${out} ${wrappers} PARENT_SCOPE)
endfunction()

# Only GCC's instrumentation is supported, and a build has one kind of it.
set(REDZONE_CHECKED_PLUGINS OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT REDZONE_SANITIZE)
  set(REDZONE_CHECKED_PLUGINS ON)
  add_custom_target(checked_plugins)
endif()

# redzone_checked_code(TARGET): a shared object whose kernels tell the host device what they access, and
# what is undefined (host_checks.h). It is linked without -fsanitize: the runtime is the host device.
function(redzone_checked_code target)
  target_compile_definitions(${target} PRIVATE REDZONE_CHECKED)
  target_compile_options(${target} PRIVATE -g1 -fsanitize=thread --param=tsan-distinguish-volatile=1
    --param=tsan-instrument-func-entry-exit=0
    -fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds,alignment)
  target_link_options(${target} PRIVATE LINKER:--wrap=memcpy,--wrap=memmove,--wrap=memset)
endfunction()

function(redzone_plugin_common target output includes)
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${output} LIBRARY_OUTPUT_DIRECTORY ${REDZONE_PLUGIN_DIR}
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
  redzone_public_api(${target} PRIVATE)
  target_include_directories(${target} PRIVATE ${includes})
  set_property(GLOBAL APPEND PROPERTY REDZONE_PLUGIN_TARGETS ${target})
endfunction()

# The headers that plugins of other projects include, too.
function(redzone_public_api target scope)
  target_include_directories(${target} ${scope}
    ${CMAKE_SOURCE_DIR}/src/core/public ${CMAKE_SOURCE_DIR}/src/target/public)
endfunction()
