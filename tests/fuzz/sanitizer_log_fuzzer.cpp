// The log of compute-sanitizer while it grows. The first two bytes of the input determine where it
// is split.
#include "fuzz/harness.h"
#include "sanitizer/text_log.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view log = fuzz::text_of(data + 2, size - 2);
  const std::size_t cut = (data[0] | std::size_t{data[1]} << 8) % (log.size() + 1);
  sanitizer::TextLog one, two;
  one.append(log);
  two.append(log.substr(0, cut));
  auto pieces = two.take(false);
  two.append(log.substr(cut));
  const auto whole = one.take(true);
  for (auto& record : two.take(true)) pieces.push_back(std::move(record));
  fuzz::require(whole == pieces, "how a log is cut does not change its records");
  fuzz::require(one.problem() == two.problem() && one.began() == two.began(),
                "nor what the tool says of itself");
  for (const auto& record : whole) {
    fuzz::require(describe(record).find('\n') == std::string::npos, "a record is told in one line");
  }
  return 0;
}
