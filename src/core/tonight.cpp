#include "core/tonight.h"

namespace redzone {

bool fails_as_recorded(Tonight tonight) {
  return tonight == Tonight::fails || tonight == Tonight::flaky;
}

bool is_gap(Tonight tonight) {
  return tonight == Tonight::unclear || tonight == Tonight::not_applicable ||
         tonight == Tonight::not_run || tonight == Tonight::harness_error;
}

}  // namespace redzone
