// Marks code of the guard itself on this thread: its allocations are not the program's.
#pragma once

namespace redzone::interpose {

class InternalScope {
 public:
  InternalScope() { ++depth_; }
  ~InternalScope() { --depth_; }
  InternalScope(const InternalScope&) = delete;
  InternalScope& operator=(const InternalScope&) = delete;
  static bool active() { return depth_ != 0; }

 private:
  // This model of thread-local storage does not allocate at first use, as other models do.
  static thread_local constinit int depth_ __attribute__((tls_model("initial-exec")));
};

}  // namespace redzone::interpose
