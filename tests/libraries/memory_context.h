// One call of a target on plain memory of this process, with the layouts of a plan: for targets
// over a library whose stand-in computes at once. Pretends to be a GPU.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/layout.h"
#include "core/plan.h"

namespace redzone::test {

// Tensors of f32, filled with integers in 1 .. 3. What is not an element is NaN.
class MemoryContext final : public Context {
 public:
  MemoryContext(const TargetSpec& spec, const Call& call, std::uint64_t seed);

  const Dims& dims() const override { return call_.dims; }
  const Config& config() const override { return call_.config; }
  TensorArg tensor(std::string_view name) const override;
  DeviceKind device() const override { return DeviceKind::cuda; }
  int multiprocessors() const override { return 1; }
  void* stream() const override { return nullptr; }
  void* stream(int) const override { return nullptr; }
  void wait(int, int) override {}
  void* scratch(std::string_view, std::size_t bytes, std::size_t) override {
    return blocks_.emplace_back(bytes).data();
  }
  void* scratch(std::string_view, std::size_t bytes, std::size_t, const ScratchNeed&) override {
    return blocks_.emplace_back(bytes).data();
  }
  void* workspace(std::string_view, std::size_t, std::size_t) override { return &nothing_; }
  void* growing_workspace(std::string_view, std::size_t) override { return &nothing_; }
  void* allocate(std::string_view, std::size_t bytes, int) override {
    return blocks_.emplace_back(bytes).data();
  }
  void free(void*, int) override {}
  void* pinned_memory(std::string_view, std::size_t) override { return &nothing_; }
  void copy(void*, const void*, std::size_t, int) override {}
  void memset(void*, std::uint8_t, std::size_t, int) override {}
  EncodeStatus encode_tiled(std::string_view, const tma::Descriptor&, TensorMap&) override {
    return {1, "no descriptors here"};
  }
  KernelRef variant(const VariantRequest&) override { throw std::logic_error("no kernels here"); }
  void launch(const KernelRef&, const LaunchShape&, const LaunchArgs&) override {
    throw std::logic_error("no kernels here");
  }
  void begin_capture() override {}
  GraphRef end_capture() override { return {}; }
  void replay(const GraphRef&, int) override {}
  void unsupported(std::string reason) override { unsupported_reason = std::move(reason); }
  void fail(std::string code, std::string message) override { failure = code + ": " + message; }
  bool ended() const override { return !unsupported_reason.empty() || !failure.empty(); }

  // The elements of a tensor in row-major order, and whether all that is no element is still NaN.
  std::vector<double> elements(std::string_view name) const;
  bool gaps_are_untouched(std::string_view name) const;

  std::string unsupported_reason, failure;

 private:
  struct Memory {
    View view;
    std::vector<float> storage;
  };
  // The place of each element in the storage, in row-major order.
  static std::vector<std::size_t> places(const View& view);

  Call call_;
  std::map<std::string, Memory, std::less<>> tensors_;
  std::vector<std::vector<char>> blocks_;
  alignas(16) char nothing_[16] = {};
};

// The reference of a call, of contiguous tensors.
class PlainReference final : public ReferenceCall {
 public:
  PlainReference(const MemoryContext& call, const TargetSpec& spec) : call_(call) {
    for (const auto& t : spec.tensors) {
      tensors_[t.name] = call.elements(t.name);
      if (t.role == Role::out) tensors_[t.name].assign(tensors_[t.name].size(), 0);
      inputs_[t.name] = tensors_[t.name];
    }
  }
  const Dims& dims() const override { return call_.dims(); }
  const Config& config() const override { return call_.config(); }
  std::span<const double> input(std::string_view name) const override {
    return inputs_.find(name)->second;
  }
  std::span<double> output(std::string_view name) override { return tensors_.find(name)->second; }

 private:
  const MemoryContext& call_;
  std::map<std::string, std::vector<double>, std::less<>> tensors_, inputs_;
};

// All rows of the outputs of a call, one asked for after the other.
class AllRows final : public SampledCall {
 public:
  AllRows(const PlainReference& whole, const TargetSpec& spec) : whole_(whole) {
    for (const auto& t : spec.tensors) {
      Output& o = outputs_[t.name];
      const Shape shape = t.shape_for(whole.dims(), whole.config());
      o.length = static_cast<std::size_t>(shape.back());
      const auto before = whole.input(t.name);
      o.values.assign(before.begin(), before.end());
      for (std::size_t r = 0; o.length > 0 && r < before.size() / o.length; ++r)
        o.rows.push_back(static_cast<std::int64_t>(r));
    }
  }
  const Dims& dims() const override { return whole_.dims(); }
  const Config& config() const override { return whole_.config(); }
  std::span<const std::int64_t> rows(std::string_view name) const override {
    return outputs_.find(name)->second.rows;
  }
  std::span<double> output(std::string_view name, std::size_t i) override {
    Output& o = outputs_.find(name)->second;
    return std::span(o.values).subspan(i * o.length, o.length);
  }
  std::span<const double> input(std::string_view name, std::int64_t first,
                                std::int64_t count) override {
    const auto length = outputs_.find(name)->second.length;
    return whole_.input(name).subspan(static_cast<std::size_t>(first) * length,
                                      static_cast<std::size_t>(count) * length);
  }
  double input_at(std::string_view name, std::int64_t row, std::int64_t column) override {
    return input(name, row, 1)[static_cast<std::size_t>(column)];
  }
  std::span<const double> values(std::string_view name) const {
    return outputs_.find(name)->second.values;
  }

 private:
  struct Output {
    std::size_t length = 0;
    std::vector<std::int64_t> rows;
    std::vector<double> values;
  };
  const PlainReference& whole_;
  std::map<std::string, Output, std::less<>> outputs_;
};

}  // namespace redzone::test
