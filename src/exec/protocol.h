// The messages between driver and worker.
//
// A stream of frames: a fixed header, then a payload in the binary form of core/wire.h. Both ends
// are the same build on the same machine, so numbers are in native byte order. A worker runs code
// that may overwrite any of its memory, so the driver trusts nothing: it checks magic, version,
// length and checksum before it decodes a payload, and allocates memory only for bytes that
// arrived.
//
//   driver -> worker   Run, Quit
//   worker -> driver   Hello once, then for each Run: TrialDone for each trial in order, JobDone
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/trial.h"
#include "exec/trial_host.h"

namespace redzone::exec {

inline constexpr std::uint16_t kProtocolVersion = 1;
inline constexpr std::uint32_t kMaxPayloadBytes = 64u << 20;

struct HelloMessage {
  std::int32_t pid = 0;
  Hello hello;
};
// `ticket` identifies the job on the wire; the driver never reuses a ticket.
struct RunMessage {
  std::uint64_t ticket = 0;
  Plan plan;
  std::vector<TrialSpec> trials;
};
struct TrialDoneMessage {
  std::uint64_t ticket = 0;
  std::uint32_t trial = 0;
  bool device_lost = false;  // the last message of this worker
  Observation observation;
};
struct JobDoneMessage {
  std::uint64_t ticket = 0;
};
struct QuitMessage {};

// The alternative's index is the type in the header.
using Message =
    std::variant<HelloMessage, RunMessage, TrialDoneMessage, JobDoneMessage, QuitMessage>;

struct FrameHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t type;
  std::uint32_t length;    // of the payload, at most kMaxPayloadBytes
  std::uint32_t checksum;  // XXH3 of the payload, seeded with type and length; low 32 bits
};
static_assert(sizeof(FrameHeader) == 16);

// A frame around any payload, and the frame of a message. A message above the limit is a harness
// error.
std::string frame(std::uint16_t type, std::string_view payload);
Result<std::string> encode(const Message& message);
// Like encode(RunMessage), without a copy of the plan.
Result<std::string> encode_run(std::uint64_t ticket, const Plan& plan,
                               const std::vector<TrialSpec>& trials);

// Splits a stream of bytes into messages.
class FrameReader {
 public:
  void append(const char* data, std::size_t n);
  // The next complete message; empty if more bytes are needed; an error if the stream is invalid.
  // The error is permanent.
  Result<std::optional<Message>> next();
  // True inside a frame: if the stream ends here, it is truncated.
  bool mid_frame() const { return begin_ != buffer_.size(); }

 private:
  tl::unexpected<Error> broken(std::string what);

  std::string buffer_;
  std::size_t begin_ = 0;  // of the first unconsumed byte
  std::optional<Error> error_;
};

}  // namespace redzone::exec
