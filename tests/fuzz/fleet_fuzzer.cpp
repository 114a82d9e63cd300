// The JSON files and the names of files of a fleet's shared folder. The first byte chooses which.
#include <string>

#include "fleet/fleet.h"
#include "fleet/layout.h"
#include "fleet/leases.h"
#include "fleet/record_file.h"
#include "fuzz/harness.h"

using namespace redzone;
using namespace redzone::fleet;

namespace {

template <class T>
void read_record_of(std::string_view text) {
  const auto read = parse_record<T>(text, "input");
  if (!read) {
    fuzz::require(read.error().kind == ErrorKind::usage, "what is written there is a usage error");
    fuzz::require(read.error().message.find('\n') == std::string::npos, "an error is one line");
    fuzz::require(read.error().message.find("json.exception") == std::string::npos,
                  "an error is in words");
    return;
  }
  const auto again = parse_record<T>(print_record(*read), "again");
  fuzz::require(again.has_value(), "what is printed of a record is a record");
  fuzz::require(*again == *read, "a record that is printed and read is the same record");
}

// A name that is read is written as a name that is read as the same.
template <class Parse>
void read_name(std::string_view text, Parse parse) {
  const auto name = parse(text);
  if (name) fuzz::require(parse(text_of(*name)) == name, "a name that is written is the same name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  switch (data[0]) {
    case 'f':
      read_record_of<Fleet>(text);
      break;
    case 'j':
      read_record_of<Jobs>(text);
      break;
    case 'a':
      read_record_of<AttemptStatus>(text);
      break;
    case 'h':
      read_record_of<HubStatus>(text);
      break;
    case 'l':
      read_record_of<LeaseBook>(text);
      break;
    default:
      read_name(text, parse_attempt);
      read_name(text, parse_snapshot);
      read_name(text, parse_request);
  }
  return 0;
}
