// Progress markers: words of mapped host memory that streams write when they reach a marker.
#pragma once

#include <cstdint>
#include <memory>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// One word for each stream. Host memory survives a fault of the context: earlier writes remain
// readable.
class MarkerWords {
 public:
  static Status<std::unique_ptr<MarkerWords>> create(const DriverApi& api);
  // Waits for the streams, because freeing pinned memory does.
  ~MarkerWords();
  MarkerWords(const MarkerWords&) = delete;
  MarkerWords& operator=(const MarkerWords&) = delete;

  // Enqueues a write of `number` to the word of stream `index`, after all work on it. Must not be
  // called while the stream is captured.
  Status<void> write(int index, CUstream stream, std::uint32_t number);
  std::uint32_t read(int index) const;
  // Sets all words to 0; the streams must be idle.
  void clear();

 private:
  static constexpr int kWords = kDeviceStreams;

  MarkerWords(const DriverApi& api, std::uint32_t* words, CUdeviceptr device_words)
      : api_(api), words_(words), device_words_(device_words) {}

  const DriverApi& api_;
  std::uint32_t* words_;  // written by the device
  CUdeviceptr device_words_;
};

}  // namespace redzone::device::cuda
