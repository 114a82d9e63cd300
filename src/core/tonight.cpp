#include "core/tonight.h"

#include <array>

#include "core/names.h"

namespace redzone {
namespace {

constexpr std::array kTonight{
    std::pair{Tonight::found, "found"},     std::pair{Tonight::fails, "still fails"},
    std::pair{Tonight::flaky, "flaky"},     std::pair{Tonight::passes, "passes"},
    std::pair{Tonight::unclear, "unclear"}, std::pair{Tonight::not_applicable, "not applicable"},
    std::pair{Tonight::not_run, "not run"},
};

}  // namespace

std::string_view name_of(Tonight tonight) {
  return name_in(kTonight, tonight);
}

}  // namespace redzone
