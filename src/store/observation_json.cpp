#include "store/observation_json.h"

#include <fmt/format.h>

#include "core/field_json.h"
#include "core/observation_fields.h"
#include "core/spec_names.h"

namespace redzone::store {

using Json = FieldJson::Json;

std::string print_observation(const Observation& observation) {
  return FieldJson::of(observation, Defaults::left_out)
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Observation> parse_observation(std::string_view text, std::string_view where) {
  try {
    Observation observation;
    FieldJson::read(parse_json_text<Json>(text), observation);
    return observation;
  } catch (const std::exception& e) {
    return harness_error(fmt::format("{}: not an observation: {}", where, e.what()));
  }
}

}  // namespace redzone::store
