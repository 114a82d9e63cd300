// Rows of a store with arbitrary values: the input is a list of columns and values, written into a
// sound store without its checks. SQLite finds nothing wrong with such a file.
#include "fuzz/harness.h"
#include "fuzz/store_reading.h"
#include "fuzz/store_sample.h"

using namespace redzone;

namespace {

const fuzz::StoreSample& sample() {
  static const fuzz::StoreSample made;
  return made;
}

}  // namespace

// libFuzzer calls it before the first input, so the time to make the sample is not charged to an
// input.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  sample();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::StoreFolder folder;
  folder.write(sample().image());
  sample().edit(folder.file(), fuzz::text_of(data, size));
  folder.read();
  return 0;
}
