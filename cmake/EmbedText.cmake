# redzone_embed_text(TARGET FILE SYMBOL)
#
# Makes the text of FILE available to TARGET as `inline constexpr std::string_view SYMBOL` in
# "SYMBOL.h". For kernel sources that are compiled at run time, and for the pieces of the page.
function(redzone_embed_text target file symbol)
  get_filename_component(full ${file} ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${full})
  file(READ ${full} text)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${dir}/${symbol}.h @ONLY CONTENT
"#pragma once
#include <string_view>
inline constexpr std::string_view ${symbol} = R\"rz_text(@text@)rz_text\";
")
  target_include_directories(${target} PRIVATE ${dir})
endfunction()
