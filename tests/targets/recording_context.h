// A Context without a device; it records the requests of a target.
#pragma once

#include <redzone/target.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace redzone::test {

struct RecordedLaunch {
  std::string kernel;
  LaunchShape shape;
  std::vector<std::uint64_t> arguments = {};  // the first 8 bytes of each argument
};

struct RecordedVariant {
  std::string name, source, expression;
  std::vector<std::string> options;

  VariantRequest request() const { return {name.c_str(), source, expression, options, {}}; }
};

struct RecordedScratch {
  std::string name;
  std::size_t bytes = 0;
  std::size_t align = 1;
  ScratchNeed need;
};

class RecordingContext final : public Context {
 public:
  RecordingContext(const TargetSpec& spec, Dims dims, Config config)
      : spec_(spec), dims_(std::move(dims)), config_(std::move(config)) {
    for (const auto& tensor : spec_.tensors) {
      auto& entry = tensors_[tensor.name];
      entry.shape = tensor.shape_for(dims_, config_);
      entry.strides.assign(entry.shape.size(), 1);
      for (std::size_t k = entry.shape.size(); k-- > 1;)
        entry.strides[k - 1] = entry.strides[k] * entry.shape[k];
    }
  }

  // Replaces the dense strides; in elements.
  void set_strides(std::string_view tensor, Shape strides) {
    tensors_.find(tensor)->second.strides = std::move(strides);
  }

  const Dims& dims() const override { return dims_; }
  const Config& config() const override { return config_; }
  TensorArg tensor(std::string_view name) const override {
    const auto& entry = tensors_.find(name)->second;
    return {&memory_, DType::f32, entry.shape, entry.strides};
  }
  DeviceKind device() const override { return DeviceKind::host; }
  int multiprocessors() const override { return 132; }
  void* stream() const override { return nullptr; }
  void* stream(int) const override { return nullptr; }
  void wait(int, int) override {}
  void begin_capture() override {}
  GraphRef end_capture() override { return {}; }
  void replay(const GraphRef&, int) override {}
  void* scratch(std::string_view, std::size_t, std::size_t) override {
    ++plain_scratches;
    return &memory_;
  }
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                const ScratchNeed& need) override {
    scratches.push_back({std::string(name), bytes, align, need});
    return bytes == 0 ? nullptr : &memory_;
  }
  void* workspace(std::string_view, std::size_t, std::size_t) override { return &memory_; }
  void* growing_workspace(std::string_view, std::size_t) override { return &memory_; }
  void* allocate(std::string_view, std::size_t, int) override { return &memory_; }
  void free(void*, int) override {}
  void* pinned_memory(std::string_view, std::size_t) override { return &memory_; }
  void copy(void*, const void*, std::size_t, int) override {}
  void memset(void*, std::uint8_t, std::size_t, int) override {}
  EncodeStatus encode_tiled(std::string_view name, const tma::Descriptor& descriptor,
                            TensorMap& map) override {
    map = {};
    descriptors.emplace(name, descriptor);
    return refused == name ? EncodeStatus{1, "refused"} : EncodeStatus{};
  }
  KernelRef variant(const VariantRequest& r) override {
    variants.push_back({r.name, std::string(r.source), r.expression, r.options});
    return r.host;
  }
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args) override {
    auto& launch = launches.emplace_back(RecordedLaunch{kernel.name, shape});
    for (std::size_t i = 0; i < args.count; ++i) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, args.pointers[i], std::min(args.sizes[i], sizeof bytes));
      launch.arguments.push_back(bytes);
    }
  }
  void unsupported(std::string reason) override {
    unsupported_reason = std::move(reason);
    ended_ = true;
  }
  void fail(std::string, std::string) override { ended_ = true; }
  bool ended() const override { return ended_; }

  std::vector<RecordedVariant> variants;
  std::vector<RecordedLaunch> launches;
  std::multimap<std::string, tma::Descriptor, std::less<>> descriptors;  // by the given name
  std::string refused;  // name of the tensor whose encode is refused
  std::string unsupported_reason;
  std::vector<RecordedScratch> scratches;
  std::size_t plain_scratches = 0;  // requests without a declared need

 private:
  struct Entry {
    Shape shape, strides;
  };
  const TargetSpec& spec_;
  Dims dims_;
  Config config_;
  std::map<std::string, Entry, std::less<>> tensors_;
  alignas(16) mutable double memory_ = 0;  // never read, since nothing runs
  bool ended_ = false;
};

}  // namespace redzone::test
