#include "device/host/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace redzone::device {
namespace {

// The driver's codes, so that both devices report the same.
Failure refused(const char* code, std::string detail) {
  return {Failure::Kind::unsupported, code, std::move(detail)};
}

}  // namespace

void GraphCapture::begin(int stream) {
  origin_ = stream;
  for (Stream& s : streams_) s = {};
  at(stream).captured = true;
  graph_ = {};
  broken_.reset();
}

Operation& GraphCapture::record(int stream) {
  Stream& s = at(stream);
  const auto index = static_cast<std::uint32_t>(graph_.nodes.size());
  HostGraph::Node& node = graph_.nodes.emplace_back();
  node.after = std::exchange(s.tails, {index});
  s.joined = false;
  return node.operation;
}

Status<void> GraphCapture::wait(int stream, int on) {
  if (!captures(on)) {
    broken_ = refused(
        "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
        fmt::format("captured stream {} waits for stream {}, which is not captured", stream, on));
    return tl::unexpected(*broken_);
  }
  Stream& s = at(stream);
  Stream& source = at(on);
  for (const std::uint32_t tail : source.tails)
    if (std::find(s.tails.begin(), s.tails.end(), tail) == s.tails.end()) s.tails.push_back(tail);
  s.captured = true;
  s.joined = false;
  source.joined = true;
  return {};
}

Status<HostGraph> GraphCapture::end() {
  const int origin = std::exchange(origin_, -1);
  if (broken_) return tl::unexpected(*broken_);
  for (int i = 0; i < kDeviceStreams; ++i)
    if (i != origin && at(i).captured && !at(i).joined)
      return tl::unexpected(
          refused("CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
                  fmt::format("stream {} was forked in a capture and not joined again", i)));
  return std::move(graph_);
}

}  // namespace redzone::device
