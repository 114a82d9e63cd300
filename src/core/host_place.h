// Names the host code of a target that crashed or hangs: the `detail` of such a fault
// (core/trial.h).
#pragma once

#include <string_view>

namespace redzone {

inline constexpr std::string_view kInRun = "in run()", kInConstructor = "in the constructor",
                                  kInDestructor = "in the destructor";

inline bool is_host_place(std::string_view detail) {
  return detail == kInRun || detail == kInConstructor || detail == kInDestructor;
}

}  // namespace redzone
