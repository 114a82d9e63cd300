#include "exec/shared_box.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <type_traits>

namespace redzone::exec {

static_assert(std::is_trivially_copyable_v<device::BlackBox>);

SharedBox::SharedBox(SharedBox&& other) noexcept
    : file_(std::move(other.file_)), box_(std::exchange(other.box_, nullptr)) {}

SharedBox& SharedBox::operator=(SharedBox&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(box_, other.box_);
  return *this;
}

SharedBox::~SharedBox() {
  if (box_ != nullptr) ::munmap(box_, sizeof(device::BlackBox));
}

Result<SharedBox> SharedBox::map(Fd file) {
  void* at =
      ::mmap(nullptr, sizeof(device::BlackBox), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED)
    return harness_error(fmt::format("cannot map the black box: {}", std::strerror(errno)));
  return SharedBox(std::move(file), static_cast<device::BlackBox*>(at));
}

Result<SharedBox> SharedBox::create() {
  Fd file(::memfd_create("redzone-black-box", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), sizeof(device::BlackBox)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return harness_error(fmt::format("cannot create the black box: {}", std::strerror(errno)));
  auto shared = map(std::move(file));
  if (shared) ::new (&shared->box()) device::BlackBox{};
  return shared;
}

Result<SharedBox> SharedBox::attach(int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || info.st_size != off_t{sizeof(device::BlackBox)})
    return harness_error(fmt::format("descriptor {} is not a black box of this build", fd));
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return map(Fd(fd));
}

device::BlackBox SharedBox::snapshot() const {
  device::BlackBox copy;
  std::memcpy(static_cast<void*>(&copy), box_, sizeof copy);
  copy.kernel[sizeof copy.kernel - 1] = '\0';
  copy.fault.buffer[sizeof copy.fault.buffer - 1] = '\0';
  return copy;
}

}  // namespace redzone::exec
