// Parses the flags with which a driver starts a worker process.
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
  bool zygote = false;  // forks workers, each with its own descriptors
  std::optional<trial::SanitizerSource> sanitizer = {};
};

// Accepts the flags of `redzone worker`, except those of tools and --zygote, and --python-file,
// which is ignored. Each flag is a separate word, and so is its value.
Result<WorkerOptions> parse_flags(std::span<const char* const> words);

}  // namespace redzone::worker
