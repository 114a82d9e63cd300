// The bytes of a store: a SQLite file of any schema version, damaged anywhere.
#include "fuzz/harness.h"
#include "fuzz/store_reading.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::StoreFolder folder;
  folder.write(fuzz::text_of(data, size));
  folder.read();
  return 0;
}
