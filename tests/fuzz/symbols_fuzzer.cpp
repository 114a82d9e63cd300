// What names the functions of another process: its list of mappings, and the ELF files in it.
#include "fuzz/harness.h"
#include "guard/symbols.h"

using namespace redzone;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of exactly these bytes, so a read past the end is detected.
  const std::string text(fuzz::text_of(data, size));
  for (const auto& mapping : guard::parse_mappings(text))
    fuzz::require(mapping.file.starts_with('/'), "a mapping has a file");
  const guard::ElfFunctions functions(text);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{size / 2}})
    functions.at(at);
  return 0;
}
