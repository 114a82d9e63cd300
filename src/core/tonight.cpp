#include "core/tonight.h"

#include <array>

#include "core/names.h"

namespace redzone {
namespace {

constexpr std::array kTonight{
    std::pair{Tonight::found, "found"},
    std::pair{Tonight::fails, "still fails"},
    std::pair{Tonight::flaky, "flaky"},
    std::pair{Tonight::passes, "passes"},
    std::pair{Tonight::unclear, "unclear"},
    std::pair{Tonight::not_applicable, "not applicable"},
    std::pair{Tonight::not_run, "not run"},
    std::pair{Tonight::otherwise, "fails otherwise"},
    std::pair{Tonight::harness_error, "harness error"},
};

}  // namespace

std::string_view name_of(Tonight tonight) {
  return name_in(kTonight, tonight);
}

bool fails_as_recorded(Tonight tonight) {
  return tonight == Tonight::fails || tonight == Tonight::flaky;
}

bool is_gap(Tonight tonight) {
  return tonight == Tonight::unclear || tonight == Tonight::not_applicable ||
         tonight == Tonight::not_run || tonight == Tonight::harness_error;
}

}  // namespace redzone
