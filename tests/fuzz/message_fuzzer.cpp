// The payload of a frame whose header and checksum are right: the first byte of the input is the
// type of the message.
#include "exec/protocol.h"
#include "fuzz/harness.h"

using namespace redzone;

namespace {

// The message of a complete frame; nullopt if it is malformed.
std::optional<exec::Message> read(const std::string& frame) {
  exec::FrameReader reader;
  reader.append(frame.data(), frame.size());
  const auto message = reader.next();
  if (!message) return std::nullopt;
  fuzz::require(message->has_value(), "a whole frame is a message or an error");
  fuzz::require(!reader.mid_frame(), "a message is read to the end of its frame");
  return **message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto message = read(exec::frame(data[0], fuzz::text_of(data + 1, size - 1)));
  if (!message) return 0;
  // Encoded again, since the input may name a key twice or contain text that is converted to valid
  // UTF-8.
  const auto sent = exec::encode(*message);
  fuzz::require(sent.has_value(), "a message that was read can be sent");
  const auto again = read(*sent);
  fuzz::require(again.has_value(), "what is sent can be read");
  fuzz::require(exec::encode(*again).value() == *sent, "what is sent is read as it was");
  return 0;
}
