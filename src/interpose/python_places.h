// Tells installed Python modules from the program's own.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace redzone::interpose {

// Decides by the path of the module's file, or the end of that path: files that a package manager
// installed, the standard library, and code without a file.
inline bool is_installed_python(std::string_view file) {
  constexpr std::array<std::string_view, 4> kPlaces{"/site-packages/", "/dist-packages/",
                                                    "/lib/python3", "<frozen"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](std::string_view place) {
    return file.find(place) != std::string_view::npos;
  });
}

}  // namespace redzone::interpose
