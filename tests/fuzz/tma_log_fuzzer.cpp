// A log with the blocks of TMA descriptors that programs print.
#include "fuzz/harness.h"
#include "tma/explain.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string log(fuzz::text_of(data, size));
  const tma::Explanation explanation = tma::explain(log);
  std::size_t told = explanation.left_out;
  for (const auto& diagnosis : explanation.diagnoses) {
    told += diagnosis.times;
    fuzz::require(diagnosis.line >= 1, "a block stands on a line");
  }
  fuzz::require(told == explanation.blocks, "each block is told of once");
  // The same parsers read the values of flags.
  tma::parse_data_type(log);
  tma::parse_swizzle(log);
  tma::parse_interleave(log);
  return 0;
}
