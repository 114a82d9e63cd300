#include "report/json_parts.h"

namespace redzone::report {

std::string print(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace redzone::report
