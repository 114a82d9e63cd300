# Code that runs once in a command or a test. Half of the time that it takes to compile at -O2 goes into
# that code's optimization; the libraries that it calls, which do the work, are compiled as ever.
#
# At -O1 GCC 12 warns of correct code: of a std::variant that is moved, and of strings that are joined.
set(REDZONE_RUNS_ONCE_OPTIONS
  "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>:-O1;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow>")

# redzone_runs_once(TARGET): the target is such code.
function(redzone_runs_once target)
  target_compile_options(${target} PRIVATE "${REDZONE_RUNS_ONCE_OPTIONS}")
  set_target_properties(${target} PROPERTIES REDZONE_RUNS_ONCE ON)
endfunction()
