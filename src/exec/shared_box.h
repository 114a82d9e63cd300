// The black box in memory shared by driver and worker.
#pragma once

#include "core/error.h"
#include "core/fd.h"
#include "device/black_box.h"

namespace redzone::exec {

// Owns the mapping and, in the driver, the anonymous file behind it. The file is sealed against
// resizing: a worker cannot make the driver's read of it fault.
class SharedBox {
 public:
  // Driver: a new, cleared box.
  static Result<SharedBox> create();
  // Worker: the box behind the inherited descriptor, which is marked close-on-exec.
  static Result<SharedBox> attach(int fd);

  SharedBox(SharedBox&& other) noexcept;
  SharedBox& operator=(SharedBox&& other) noexcept;
  ~SharedBox();

  device::BlackBox& box() { return *box_; }
  int fd() const { return file_.get(); }
  // A copy with every name terminated, for a reader that does not trust the writer.
  device::BlackBox snapshot() const;

 private:
  SharedBox(Fd file, device::BlackBox* box) : file_(std::move(file)), box_(box) {}
  static Result<SharedBox> map(Fd file);

  Fd file_;
  device::BlackBox* box_ = nullptr;
};

}  // namespace redzone::exec
