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
  tma::parse_name_or_number<tma::DataType>(log);
  tma::parse_name_or_number<tma::Swizzle>(log);
  tma::parse_name_or_number<tma::Interleave>(log);
  return 0;
}
