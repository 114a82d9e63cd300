// An observation in the binary form that a worker sends.
#include "core/wire.h"

#include "fuzz/harness.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto observation = wire::decode<Observation>(fuzz::text_of(data, size));
  if (!observation) return 0;
  // Encoded again, since the input may name a key twice or contain text that is converted to valid
  // UTF-8.
  const std::string sent = wire::encode(*observation);
  const auto again = wire::decode<Observation>(sent);
  fuzz::require(again.has_value(), "an observation that was read can be sent");
  fuzz::require(wire::encode(*again) == sent, "what is sent is read as it was");
  if (observation->sanitizer)
    for (const auto& record : observation->sanitizer->records) describe(record);
  return 0;
}
