#include "interpose/stream_holds.h"

#include <unistd.h>

#include <memory>

namespace redzone::interpose {
namespace {

constexpr unsigned kPauseUs = 50;

// The n-th random number of a seed (splitmix64).
std::uint64_t draw(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + n * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

struct StreamHolds::Hold {
  StreamHolds& holds;
  std::uint64_t generation = 0, most_us = 0;
};

StreamHolds::StreamHolds(const Driver& driver, const Settings& settings, Recorder& recorder)
    : driver_(driver), settings_(settings), recorder_(recorder) {}

void StreamHolds::before_launch(CuStream stream) {
  if (settings_.launch != LaunchMode::held || driver_.launch_host_function == nullptr) return;
  const std::uint64_t n = 2 * launches_.fetch_add(1);
  if (draw(settings_.seed, n) % kOneIn != 0) return;
  if (holds_.fetch_add(1) >= kMostHolds) {
    holds_.fetch_sub(1);
    return;
  }
  auto hold = std::make_unique<Hold>(
      Hold{*this, generation_.load(),
           kShortestUs + draw(settings_.seed, n + 1) % (kLongestUs - kShortestUs)});
  if (driver_.launch_host_function(stream, wait, hold.get()) != kCuSuccess) {
    holds_.fetch_sub(1);
    return;
  }
  hold.release();  // NOLINT(bugprone-unused-return-value): wait() owns it now
  recorder_.count(Counter::streams_held);
}

// A broken context no longer calls host functions: the memory of its holds is then not freed, and
// they count as holds until the process ends.
void StreamHolds::wait(void* hold) {
  const std::unique_ptr<Hold> own(static_cast<Hold*>(hold));
  for (std::uint64_t waited_us = 0; waited_us < own->most_us; waited_us += kPauseUs) {
    if (own->holds.generation_.load(std::memory_order_relaxed) != own->generation) break;
    ::usleep(kPauseUs);
  }
  own->holds.holds_.fetch_sub(1);
}

}  // namespace redzone::interpose
