// The device for dry runs, which runs no kernel: checks launchers without a GPU.
//
// Runs targets of the host device: their run() is called as usual, so sequences exercise launchers
// that keep state, and all their requests are recorded. Buffers are addresses without memory (an
// access faults), so a plan of any size costs the same. A launch is checked against the limits of a
// device and discarded; fills, waits and graphs are discarded; a check reports no change. Host
// memory is real, because a launcher may write its tables there.
#pragma once

#include "device/device.h"
#include "device/host/plain_memory.h"
#include "device/variant_hook.h"

namespace redzone::device {

// Reserved addresses, allocated consecutively, and never reused in a trial.
class AddressSpace {
 public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Returns a multiple of the page size, followed by an unused page.
  Status<Region> take(std::size_t bytes);
  void begin_trial() { used_ = 0; }
  bool contains(const void* begin, std::size_t bytes) const;

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
};

class DryRunDevice final : public Device {
 public:
  // `asked`, if not empty, is called for each requested variant.
  explicit DryRunDevice(VariantHook asked = {});

  const Info& info() const override { return info_; }
  Memory& memory(Allocator) override { return memory_; }
  OrderedMemory& ordered_memory(Allocator) override { return ordered_; }
  Memory& pinned_memory() override { return host_memory_; }
  void set_black_box(BlackBox* box) override { box_ = box; }
  Status<void> begin_trial(const TrialSettings& settings) override;
  void watch(std::vector<NamedRange>) override {}
  void watch_more(std::span<const NamedRange>) override {}
  void set_call(std::int32_t) override {}
  void* stream_handle(int stream) override;
  Status<void> fill(int, std::span<const BufferJob>) override { return {}; }
  Status<void> check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) override;
  Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                      const LaunchArgs& args) override;
  Status<void> wait(int, int) override { return {}; }
  Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) override;
  Status<void> memset(int stream, void* to, std::uint8_t value, std::size_t bytes) override;
  Status<void> begin_capture(int) override { return {}; }
  Status<int> end_capture(int) override { return graphs_++; }
  Status<void> launch_graph(int stream, int graph) override;
  Status<void> hold() override { return {}; }
  Status<void> open() override { return {}; }
  std::size_t hold_capacity() const override;
  Status<void> synchronize() override { return {}; }
  Status<void> read(void* to, const void* from, std::size_t bytes) override;
  // Returns only the name; calls the hook.
  Status<KernelRef> variant(const VariantRequest& request) override;
  // The result follows from Redzone's rules.
  Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) override;

 private:
  class Regions final : public Memory {
   public:
    explicit Regions(AddressSpace& space) : space_(space) {}
    Status<Region> acquire(std::size_t bytes) override { return space_.take(bytes); }
    void release(Region) override {}
    void trim() override {}
    std::uint64_t mapping_calls() const override { return 0; }

   private:
    AddressSpace& space_;
  };
  class OrderedRegions final : public OrderedMemory {
   public:
    explicit OrderedRegions(AddressSpace& space) : space_(space) {}
    Status<Region> acquire(std::size_t bytes, int) override { return space_.take(bytes); }
    Status<void> release(Region, int) override { return {}; }
    std::uint64_t mapping_calls() const override { return 0; }

   private:
    AddressSpace& space_;
  };

  bool is_known(const void* at, std::size_t bytes) const;

  VariantHook asked_;
  BlackBox* box_ = nullptr;
  Info info_;
  AddressSpace space_;
  Regions memory_{space_};
  OrderedRegions ordered_{space_};
  PlainMemory host_memory_;
  int graphs_ = 0;
};

}  // namespace redzone::device
