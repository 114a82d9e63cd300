// A worker process on the host device that has the puzzles; with `--checks races` those that were
// built for checks.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "device/device.h"
#include "exec/serve_forks.h"
#include "exec/shared_box.h"
#include "exec/worker_loop.h"
#include "puzzles/shipped.h"
#include "trial/device_trial_host.h"

int main(int argc, char** argv) {
  using namespace redzone;
  int socket = -1, black_box = -1;
  bool zygote = false;
  std::optional<trial::SanitizerSource> check;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--zygote") zygote = true;
    if (flag == "--socket-fd") socket = std::atoi(argv[i + 1]);
    if (flag == "--black-box-fd") black_box = std::atoi(argv[i + 1]);
    if (flag == "--checks") check = {.tool = SanitizerTool::races};
  }
  const Registry& puzzles = puzzles::shipped_registry(check.has_value());
  std::optional<exec::ForkedWorker> forked;
  if (zygote) {
    forked = exec::serve_forks(socket);
    if (!forked) return 0;
    socket = forked->socket.get();
    black_box = ::dup(forked->black_box.get());
  }
  auto box = exec::SharedBox::attach(black_box);
  if (!box) {
    std::fprintf(stderr, "%s\n", box.error().message.c_str());
    return 3;
  }
  trial::DeviceTrialHost host(device::open_host_device(), puzzles, &box->box(), "", check);
  return exec::worker_loop(socket, host, box->box());
}
