// A worker's messages as a stream of bytes that arrives in pieces. The first two bytes of the input
// determine where the stream is split.
#include "exec/protocol.h"
#include "fuzz/harness.h"

using namespace redzone;

namespace {

// Everything that is read, as text: the messages, then the error if there is one.
void read_on(exec::FrameReader& reader, std::string_view piece, std::vector<std::string>& read) {
  reader.append(piece.data(), piece.size());
  for (;;) {
    const auto message = reader.next();
    if (!message) {
      if (read.empty() || read.back() != message.error().message)
        read.push_back(message.error().message);
      return;
    }
    if (!*message) return;
    const auto bytes = exec::encode(**message);
    fuzz::require(bytes.has_value(), "a message that was read can be sent");
    read.push_back(*bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream = fuzz::text_of(data + 2, size - 2);
  const std::size_t cut = (data[0] | std::size_t{data[1]} << 8) % (stream.size() + 1);
  std::vector<std::string> whole, pieces;
  exec::FrameReader one, two;
  read_on(one, stream, whole);
  read_on(two, stream.substr(0, cut), pieces);
  read_on(two, stream.substr(cut), pieces);
  fuzz::require(whole == pieces, "how a stream is cut does not change what it says");
  return 0;
}
