// Exit codes of commands.
#pragma once

namespace redzone {

// docs/concepts.md has the same table.
enum Exit : int {
  kOk = 0,            // nothing new was found
  kFound = 1,         // new or unexplained failures, or a replay that failed as recorded
  kUsage = 2,         // the command line or a file is wrong
  kHarness = 3,       // Redzone could not do its job
  kNotJudged = 4,     // nothing could be judged
  kUnsound = 5,       // a store is damaged, or (`db copy`) the copy lacks rows of the store that it
                      // would replace
  kInterrupted = 130  // Ctrl-C; findings so far are stored
};

}  // namespace redzone
