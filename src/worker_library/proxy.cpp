// `redzone_worker_proxy INTERPRETER -m redzone.worker FLAGS...`: the worker of a Python target, for
// the driver that starts it.
//
// Importing a user's modules takes seconds, and a confirmation needs many fresh workers. So the
// files are imported once, by a process that forks a worker for each proxy (redzone/zygote.py). The
// first proxy of a driver starts it; it ends when the driver does. A proxy hands its descriptors
// over, and ends as its worker ends. If there is no zygote, or it must not fork, the proxy becomes
// the worker itself.
//
// Without libraries: it starts in a millisecond.
#include <fcntl.h>
#include <sys/resource.h>
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

namespace {

constexpr int kHarnessError = 3;
constexpr int kWaiting = 64;  // proxies that connect while the zygote imports
// INTERPRETER -m redzone.worker
constexpr int kFlags = 4;

// The words of the worker without those that differ from worker to worker, and these two.
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

// When a process started, which with its id names it for ever.
std::string start_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  char text[1024] = {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return "";
  // Field 22; field 2 is in parentheses and may hold anything.
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  if (at == nullptr) return "";
  return std::string(at + 1, std::strcspn(at + 1, " "));
}

// One zygote for each driver and set of flags, by an abstract name, which no file outlives.
sockaddr_un address_of(pid_t driver, const char* interpreter, const Request& request) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto add = [&](std::string_view word) {
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    hash = (hash ^ 0xff) * 1099511628211u;
  };
  add(interpreter);
  for (const auto& word : request.words) add(word);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "redzone-zygote/%d/%s/%016llx",
                driver, start_of(driver).c_str(), static_cast<unsigned long long>(hash));
  return address;
}

socklen_t size_of(const sockaddr_un& address) {
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                std::strlen(address.sun_path + 1));
}

int new_socket() {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

// Becomes the zygote, in a group of its own: the end of the first worker must not end it.
[[noreturn]] void become_zygote(char** argv, const Request& request, int listener, pid_t driver) {
  ::setpgid(0, 0);
  for (const int fd : {1, 2}) ::dup2(0, fd);  // 0 is /dev/null
  ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
  ::fcntl(listener, F_SETFD, 0);
  std::vector<std::string> words{argv[1], "-m", "redzone.zygote", std::to_string(listener),
                                 std::to_string(driver)};
  words.insert(words.end(), request.words.begin(), request.words.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

// Starts the zygote unless another proxy does.
void start_zygote(char** argv, const Request& request, const sockaddr_un& address, pid_t driver) {
  const int listener = new_socket();
  if (listener < 0) return;
  // Of several proxies one gets the name.
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), size_of(address)) == 0 &&
      ::listen(listener, kWaiting) == 0 && ::fork() == 0)
    become_zygote(argv, request, listener, driver);
  ::close(listener);
}

// The zygote of this driver; -1 if there is none.
int connect_to_zygote(char** argv, const Request& request) {
  const pid_t driver = ::getppid();
  const sockaddr_un address = address_of(driver, argv[1], request);
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    const int link = new_socket();
    if (link < 0) return -1;
    if (::connect(link, reinterpret_cast<const sockaddr*>(&address), size_of(address)) == 0) {
      ucred peer = {};
      socklen_t size = sizeof peer;
      if (::getsockopt(link, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid())
        return link;
      ::close(link);
      return -1;
    }
    ::close(link);
    if (errno != ECONNREFUSED && errno != EAGAIN) return -1;
    start_zygote(argv, request, address, driver);
    ::usleep(1000);  // the one with the name is about to listen
  }
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

// What became of the worker is unknown, and no failure of what it ran. The driver ends it: it is of
// this process' group.
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
  const int link = connect_to_zygote(argv, request);
  std::int32_t worker = -1, status = 0;
  if (link < 0 || request.words.empty() || !hand_over(link, request) || !receive(link, worker) ||
      worker < 0)
    become_worker(argv);
  // The driver must see that the worker is gone, and this process holds what the worker has.
  for (const int fd : {1, request.socket, request.box}) ::close(fd);
  if (!receive(link, status)) zygote_is_gone();
  end_as(status);
}
