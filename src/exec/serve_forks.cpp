#include "exec/serve_forks.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace redzone::exec {
namespace {

struct Request {
  Fd socket, black_box, output;
};

bool has_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error || std::distance(begin(tasks), end(tasks)) != 1;
}

bool holds_gpu() {
  std::error_code error;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto file = std::filesystem::read_symlink(fd.path(), error);
    if (!error && file.string().starts_with("/dev/nvidia")) return true;
  }
  return false;
}

// The next request; nullopt once the driver is gone, or if it sent something else.
std::optional<Request> next_request(int driver) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kForkDescriptors)> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = 0;
  do n = ::recvmsg(driver, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n != 1) return std::nullopt;
  std::array<int, kForkDescriptors> fds{-1, -1, -1};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof fds))
    return std::nullopt;
  std::memcpy(fds.data(), CMSG_DATA(header), sizeof fds);
  return Request{Fd(fds[0]), Fd(fds[1]), Fd(fds[2])};
}

// fork() of a process with one thread, with the parent of this process as the parent of the child.
// glibc keeps a thread's id in its memory; there the kernel writes the id of the child, as for
// glibc's own fork().
pid_t fork_sibling() {
  void* id = nullptr;
  unsigned long flags = CLONE_PARENT | SIGCHLD;
  if (::prctl(PR_GET_TID_ADDRESS, &id, 0, 0, 0) == 0 && id != nullptr)
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  return static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, id, nullptr));
}

// Changes the addresses of later mappings: without this the kernel would choose the same addresses
// in all forks.
void move_mappings() {
  constexpr std::uint64_t kPages = std::uint64_t{1} << 14, kPage = 4096;
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return;
  [[maybe_unused]] void* const moves = ::mmap(nullptr, (1 + number % kPages) * kPage, PROT_NONE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

std::optional<ForkedWorker> serve_forks(int driver) {
  const pid_t parent = ::getppid();
  if (has_threads() || holds_gpu() || ::send(driver, &kZygoteIsReady, 1, MSG_NOSIGNAL) != 1)
    return std::nullopt;
  while (auto request = next_request(driver)) {
    const pid_t child = fork_sibling();
    if (child != 0) {
      const std::int32_t answer = child;
      if (::send(driver, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) break;
      continue;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(request->output.get(), stream);
    ::close(driver);
    move_mappings();
    return ForkedWorker{std::move(request->socket), std::move(request->black_box)};
  }
  return std::nullopt;
}

}  // namespace redzone::exec
