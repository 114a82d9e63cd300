# Batches: several sources of a library or a test compiled as one (CMake's unity build). Headers take most
# of the time that a source takes, so a cold build of the command takes half of it.
#
# In a batch a call can choose a function of another source's anonymous namespace. So such a function has
# a name that no other source of the library or test calls; ./scripts/check batches reads that.
# The preset release has batches; the others compile each source by itself, and find includes that are
# missing.
option(REDZONE_BATCHES "Compile several sources of a library or a test as one" OFF)

# redzone_batches(TARGET [SIZE n] [EXCEPT source...]): the sources of TARGET may be compiled in batches of nine, those
# behind EXCEPT by themselves. redzone_test() calls it for each test, in batches of ten: their headers,
# GoogleTest and RapidCheck among them, take more, and their code is not optimized.
function(redzone_batches target)
  cmake_parse_arguments(arg "" "SIZE" "EXCEPT" ${ARGN})
  if(NOT arg_SIZE)
    set(arg_SIZE 9)
  endif()
  if(REDZONE_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_SIZE})
    set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
