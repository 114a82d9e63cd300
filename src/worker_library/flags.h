// The flags of a worker process, for the words that a driver starts it with.
#pragma once

#include <optional>
#include <span>

#include "core/error.h"
#include "trial/sanitizer_watch.h"
#include "worker_library/worker_side.h"

namespace redzone::worker {

struct WorkerOptions {
  WorkerSideOptions side;
  int socket_fd = -1;
  int black_box_fd = -1;
  bool zygote = false;  // forks workers, of which each then has descriptors of its own
  std::optional<trial::SanitizerSource> sanitizer = {};
};

// The flags of `redzone worker`, without those of tools and --zygote, and --python-file, which is
// passed over. Each is a word of its own, as is its value.
Result<WorkerOptions> parse_flags(std::span<const char* const> words);

}  // namespace redzone::worker
