// `redzone_worker_proxy INTERPRETER -m redzone.worker FLAGS...`: connects a driver with the worker
// of a Python target.
//
// Importing a user's modules takes seconds, and a confirmation needs many fresh workers. Therefore
// one process imports the files once, describes them to the driver and then forks a worker for each
// proxy (redzone/zygote.py). This process listens at the abstract socket that REDZONE_ZYGOTE names.
// A proxy passes its descriptors on, and ends as its worker ends. If no process listens, the proxy
// itself becomes the worker.
//
// Uses no libraries, so that it starts in a millisecond.
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/check_failure.h"
#include "core/error.h"
#include "python/interpreter.h"

namespace {

constexpr int kHarnessError = 3;
// Index of the first flag, after "INTERPRETER -m redzone.worker".
constexpr int kFlags = 4;

// The words of the worker without the descriptors that differ between workers, and these
// descriptors.
struct Request {
  std::vector<std::string> words;
  int socket = -1, box = -1;
};

Request request_of(int argc, char** argv) {
  Request request;
  for (int i = kFlags; i < argc; ++i) {
    const std::string_view word = argv[i];
    int* const number = word == "--socket-fd"      ? &request.socket
                        : word == "--black-box-fd" ? &request.box
                                                   : nullptr;
    if (number != nullptr && i + 1 < argc)
      *number = std::atoi(argv[++i]);
    else
      request.words.emplace_back(word);
  }
  return request;
}

[[noreturn]] void become_worker(char** argv) {
  ::execv(argv[1], argv + 1);
  std::fprintf(stderr, "cannot start %s: %s\n", argv[1], std::strerror(errno));
  ::_exit(127);
}

// Connects to the zygote; -1 if there is none.
int connect_to_zygote() {
  const char* const name = std::getenv(redzone::python::kZygote.data());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // An abstract name begins with a zero byte and has no terminator.
  const std::size_t length = name == nullptr ? 0 : std::strlen(name);
  if (length == 0 || length + 1 > sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path + 1, name, length);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  const int link = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (link < 0) return -1;
  ucred peer = {};
  socklen_t peer_size = sizeof peer;
  if (::connect(link, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      ::getsockopt(link, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.uid == ::getuid())
    return link;
  ::close(link);
  return -1;
}

// Sends the flags and the descriptors.
bool hand_over(int link, const Request& request) {
  std::string text;
  for (const auto& word : request.words) text += word + '\0';
  const int fds[] = {1, request.socket, request.box};
  char control[CMSG_SPACE(sizeof fds)] = {};
  iovec part{text.data(), text.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds, sizeof fds);
  return ::sendmsg(link, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool receive(int link, std::int32_t& number) {
  ssize_t n = 0;
  do n = ::recv(link, &number, sizeof number, MSG_WAITALL);
  while (n < 0 && errno == EINTR);
  return n == sizeof number;
}

// The fate of the worker is unknown, and this is not a failure of the code that it ran. The driver
// ends the worker, which is in the process group of this process.
[[noreturn]] void zygote_is_gone() {
  std::fprintf(stderr, "%sthe process that forks workers has ended\n",
               redzone::kCheckFailedText.data());
  ::_exit(redzone::kCheckFailedExit);
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    ::kill(::getpid(), WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : kHarnessError);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < kFlags) {
    std::fputs("usage: redzone_worker_proxy INTERPRETER -m redzone.worker FLAGS...\n", stderr);
    return 2;
  }
  const Request request = request_of(argc, argv);
  const int link = connect_to_zygote();
  std::int32_t worker = -1, status = 0;
  if (link < 0 || request.words.empty() || !hand_over(link, request) || !receive(link, worker) ||
      worker < 0)
    become_worker(argv);
  // The driver must notice the end of the worker, so close this process' copies of the worker's
  // descriptors.
  for (const int fd : {1, request.socket, request.box}) ::close(fd);
  if (!receive(link, status)) zygote_is_gone();
  end_as(status);
}
