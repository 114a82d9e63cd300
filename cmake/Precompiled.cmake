# Precompiled headers: the headers of other projects that most sources include, which take half of the
# time of a build. Nothing of this tree is among them, so they are compiled once.
#
# A source must include what it uses all the same: the presets of clang build without (-DREDZONE_PCH=OFF).
option(REDZONE_PCH "Precompile the headers of the standard library, fmt and GoogleTest" ON)

# redzone_precompiled(NAME [ONCE] HEADERS headers... [LIBS libraries...]): headers to reuse by
# redzone_precompile(), compiled with the options of the current folder; ONCE: for redzone_runs_once().
function(redzone_precompiled name)
  cmake_parse_arguments(arg "ONCE" "" "HEADERS;LIBS" ${ARGN})
  if(NOT REDZONE_PCH)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  if(arg_ONCE)
    redzone_runs_once(${name})
  endif()
endfunction()

# redzone_precompile(TARGET NAME): the C++ sources of TARGET begin with the headers of NAME.
function(redzone_precompile target name)
  if(REDZONE_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
    # ccache needs it to see through a precompiled header.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  endif()
endfunction()

# All static libraries of a folder and of those below it; NAME_once for those of redzone_runs_once().
function(redzone_precompile_libraries folder name)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(once ${target} REDZONE_RUNS_ONCE)
    if(type STREQUAL STATIC_LIBRARY)
      if(once)
        redzone_precompile(${target} ${name}_once)
      else()
        redzone_precompile(${target} ${name})
      endif()
    endif()
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS below)
    redzone_precompile_libraries(${one} ${name})
  endforeach()
endfunction()
