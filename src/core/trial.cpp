#include "core/trial.h"

#include <array>

#include "core/names.h"

namespace redzone {
namespace {

constexpr std::array kEnds{std::pair{End::completed, "completed"},
                           std::pair{End::fault, "fault"},
                           std::pair{End::hang, "hang"},
                           std::pair{End::exited, "exited"},
                           std::pair{End::unsupported, "unsupported"},
                           std::pair{End::out_of_memory, "out-of-memory"},
                           std::pair{End::worker_error, "worker-error"}};
constexpr std::array kAccesses{std::pair{Access::unknown, "unknown"},
                               std::pair{Access::read, "read"}, std::pair{Access::write, "write"}};
constexpr std::array kSides{std::pair{Side::unknown, "unknown"}, std::pair{Side::before, "before"},
                            std::pair{Side::after, "after"}, std::pair{Side::inside, "inside"}};

}  // namespace

std::string_view name_of(End v) {
  return name_in(kEnds, v);
}
std::string_view name_of(Access v) {
  return name_in(kAccesses, v);
}
std::string_view name_of(Side v) {
  return name_in(kSides, v);
}

}  // namespace redzone
