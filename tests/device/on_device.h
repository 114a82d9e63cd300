// Buffers and launches on any device, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device/buffer_math.h"
#include "device/device.h"

namespace redzone::device::testing {

// `n` elements of T in memory of `device`, which end (guard_after) or start (guard_before) at the
// guard page.
template <class T>
class Buffer {
 public:
  Buffer(Device& device, std::int64_t n, Placement placement = Placement::guard_after,
         Allocator allocator = Allocator::guard)
      : memory_(device.memory(allocator)), n_(n) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    auto region = memory_.acquire(bytes == 0 ? 1 : bytes);
    if (!region) {
      ADD_FAILURE() << region.error().detail;
      return;
    }
    region_ = *region;
    const std::size_t at = placement == Placement::guard_after ? region_.bytes - bytes : 0;
    data_ = reinterpret_cast<T*>(region_.base + at);
  }
  ~Buffer() { memory_.release(region_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data() const { return data_; }
  std::int64_t size() const { return n_; }
  const Region& region() const { return region_; }

  // Fills all elements with the poison word zero.
  BufferJob job(DType type) const {
    BufferJob job = {};
    job.data = data_;
    job.rank = 1;
    job.size[0] = job.numel = n_;
    job.stride[0] = 1;
    job.dtype = static_cast<std::uint8_t>(type);
    job.fill = FillKind::poison;
    return job;
  }
  NamedRange range(std::string name, std::int32_t call = 0) const {
    return {std::move(name), call, reinterpret_cast<const std::byte*>(data_),
            reinterpret_cast<const std::byte*>(data_ + n_)};
  }

 private:
  Memory& memory_;
  Region region_;
  T* data_ = nullptr;
  std::int64_t n_;
};

template <class... P, class... A>
Status<void> launch(Device& device, int stream, const char* name, void (*kernel)(P...),
                    const LaunchShape& shape, A... values) {
  std::tuple<std::decay_t<P>...> args{static_cast<std::decay_t<P>>(values)...};
  return std::apply(
      [&](auto&... arg) {
        void* pointers[] = {static_cast<void*>(&arg)...};
        const std::size_t sizes[] = {sizeof(arg)...};
        return device.launch(stream, kernel_ref(name, kernel), shape,
                             {pointers, sizes, sizeof...(arg)});
      },
      args);
}

template <class T>
std::vector<T> read(Device& device, const T* from, std::int64_t n) {
  std::vector<T> values(static_cast<std::size_t>(n));
  const auto done = device.read(values.data(), from, values.size() * sizeof(T));
  EXPECT_TRUE(done.has_value());
  return values;
}
template <class T>
std::vector<T> read(Device& device, const Buffer<T>& buffer) {
  return read(device, buffer.data(), buffer.size());
}

// Sets all elements to zero in stream order.
template <class T>
void zero(Device& device, const Buffer<T>& buffer, int stream = 0) {
  static_assert(sizeof(T) == 4);
  const BufferJob job = buffer.job(DType::u32);
  ASSERT_TRUE(device.fill(stream, {&job, 1}).has_value());
}

// A device on which a trial has begun.
inline std::unique_ptr<Device> host_device(std::uint64_t schedule_seed = 0, int streams = 1) {
  auto device = open_host_device();
  const auto begun = device->begin_trial({Launch::async, schedule_seed, streams});
  EXPECT_TRUE(begun.has_value());
  return device;
}

}  // namespace redzone::device::testing
