// Which modules of Python are not the program's own.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace redzone::interpose {

// By the path of their file, or its end: what a package manager has put there, the standard
// library, and code without a file.
inline bool is_installed_python(std::string_view file) {
  constexpr std::array<std::string_view, 4> kPlaces{"/site-packages/", "/dist-packages/",
                                                    "/lib/python3", "<frozen"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](std::string_view place) {
    return file.find(place) != std::string_view::npos;
  });
}

}  // namespace redzone::interpose
