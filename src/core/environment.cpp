#include "core/environment.h"

namespace redzone {
std::string other_data_than(const Environment& recorded) {
  if (!recorded.redzone_version.starts_with("0.1.")) return "";
  return "it was recorded by Redzone " + recorded.redzone_version +
         ", where the seeds of the plan drew other data";
}

}  // namespace redzone
