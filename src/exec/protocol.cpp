#include "exec/protocol.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>

#include "core/wire.h"

namespace redzone::exec {

constexpr auto field_table(std::type_identity<Hello>) {
  return sent_fields(&Hello::device, &Hello::driver, &Hello::compute_capability, &Hello::nvrtc,
                     &Hello::memory_bytes);
}
constexpr auto field_table(std::type_identity<HelloMessage>) {
  return sent_fields(&HelloMessage::pid, &HelloMessage::hello);
}
constexpr auto field_table(std::type_identity<RunMessage>) {
  return sent_fields(&RunMessage::ticket, &RunMessage::plan, &RunMessage::trials);
}
constexpr auto field_table(std::type_identity<TrialDoneMessage>) {
  return sent_fields(&TrialDoneMessage::ticket, &TrialDoneMessage::trial,
                     &TrialDoneMessage::device_lost, &TrialDoneMessage::observation);
}
constexpr auto field_table(std::type_identity<JobDoneMessage>) {
  return sent_fields(&JobDoneMessage::ticket);
}
constexpr auto field_table(std::type_identity<QuitMessage>) {
  return sent_fields<QuitMessage>();
}

namespace {

constexpr std::uint32_t kMagic = 0x50575a52;  // "RZWP"
constexpr std::size_t kHeaderBytes = sizeof(FrameHeader);

std::uint32_t checksum(std::uint16_t type, std::string_view payload) {
  const std::uint64_t seed = (std::uint64_t{type} << 32) | payload.size();
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(payload.data(), payload.size(), seed));
}

Result<std::string> bounded_frame(std::size_t type, const std::string& payload) {
  if (payload.size() > kMaxPayloadBytes)
    return harness_error(fmt::format("a message of {} bytes is above the protocol's limit of {}",
                                     payload.size(), kMaxPayloadBytes));
  return frame(static_cast<std::uint16_t>(type), payload);
}

// Default-constructs the alternative with this index; false if there is none.
template <std::size_t... I>
bool emplace_type(Message& message, std::size_t type, std::index_sequence<I...>) {
  return ((I == type ? (message.emplace<I>(), true) : false) || ...);
}

}  // namespace

std::string frame(std::uint16_t type, std::string_view payload) {
  const FrameHeader header{kMagic, kProtocolVersion, type,
                           static_cast<std::uint32_t>(payload.size()), checksum(type, payload)};
  std::string out;
  out.reserve(kHeaderBytes + payload.size());
  out.append(reinterpret_cast<const char*>(&header), kHeaderBytes);
  out.append(payload);
  return out;
}

Result<std::string> encode(const Message& message) {
  return bounded_frame(message.index(),
                       std::visit([](const auto& m) { return wire::encode(m); }, message));
}

Result<std::string> encode_run(std::uint64_t ticket, const Plan& plan,
                               const std::vector<TrialSpec>& trials) {
  wire::Writer writer;
  writer(ticket, plan, trials);
  return bounded_frame(Message(RunMessage{}).index(), writer.take());
}

void FrameReader::append(const char* data, std::size_t n) {
  if (error_) return;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  }
  buffer_.append(data, n);
}

tl::unexpected<Error> FrameReader::broken(std::string what) {
  error_ = Error{ErrorKind::harness, std::move(what)};
  buffer_ = {};
  begin_ = 0;
  return tl::unexpected<Error>(*error_);
}

Result<std::optional<Message>> FrameReader::next() {
  if (error_) return tl::unexpected<Error>(*error_);
  if (buffer_.size() - begin_ < kHeaderBytes) return std::nullopt;
  FrameHeader header;
  std::memcpy(&header, buffer_.data() + begin_, kHeaderBytes);
  if (header.magic != kMagic) return broken("bytes that are not a message");
  if (header.version != kProtocolVersion)
    return broken(fmt::format("a message of protocol version {}, this build uses {}",
                              header.version, kProtocolVersion));
  if (header.length > kMaxPayloadBytes)
    return broken(fmt::format("a message with a length of {} bytes, the limit is {}", header.length,
                              kMaxPayloadBytes));
  if (buffer_.size() - begin_ - kHeaderBytes < header.length) return std::nullopt;
  const std::string_view payload(buffer_.data() + begin_ + kHeaderBytes, header.length);
  if (checksum(header.type, payload) != header.checksum)
    return broken("a message with a wrong checksum");

  Message message;
  if (!emplace_type(message, header.type, std::make_index_sequence<std::variant_size_v<Message>>{}))
    return broken(fmt::format("a message of the unknown type {}", header.type));
  wire::Reader reader(payload);
  std::visit([&](auto& m) { reader(m); }, message);
  if (!reader.ok() || !reader.at_end())
    return broken(fmt::format("a message of type {} with a malformed payload", header.type));

  begin_ += kHeaderBytes + header.length;
  if (begin_ >= 64 * 1024) {  // keep the buffer as small as its unread part
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return message;
}

}  // namespace redzone::exec
