// Launches of a package's kernels, recorded when the program was exported, with the program's own
// buffers in place of the recorded addresses. Included in programs whose target is a package: its
// kernels are cubins, and Redzone's code launches them.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "standalone/run.h"

namespace redzone::standalone {

struct RecordedImage {
  const char* kernel;  // name in the cubin
  const unsigned char* bytes;
  std::size_t size;
};

struct RecordedScratch {
  const char* name;
  std::size_t bytes, align;
};

// A parameter of a launch: `size` bytes of `bits`, or the address of a buffer.
struct RecordedParameter {
  std::size_t size;
  std::uint64_t bits;
  const char* tensor = nullptr;
  int scratch = -1;  // index in RecordedCall::scratch
};

struct RecordedLaunch {
  int image;
  LaunchShape shape;
  std::vector<RecordedParameter> parameters;
};

struct RecordedCall {
  std::vector<RecordedScratch> scratch;
  std::vector<RecordedLaunch> launches;
};

// Replays the launches of each call of the plan.
class RecordedTarget final : public Target {
 public:
  // Both arguments must outlive this object; `calls` has one entry for each call of the plan.
  RecordedTarget(const std::vector<RecordedImage>& images, const std::vector<RecordedCall>& calls)
      : images_(images), calls_(calls) {}

  void run(Context& ctx) override {
    const RecordedCall& call = calls_.at(static_cast<CallContext&>(ctx).number());
    std::vector<void*> scratch;
    for (const RecordedScratch& s : call.scratch)
      scratch.push_back(ctx.scratch(s.name, s.bytes, s.align, {}));
    for (const RecordedLaunch& launch : call.launches) {
      const RecordedImage& image = images_.at(static_cast<std::size_t>(launch.image));
      VariantRequest request;
      request.name = image.kernel;
      request.expression = image.kernel;
      request.image = {reinterpret_cast<const char*>(image.bytes), image.size};
      std::vector<std::uint64_t> slots;  // little endian; no parameter has more than 8 bytes
      std::vector<std::size_t> sizes;
      for (const RecordedParameter& p : launch.parameters) {
        const void* address = nullptr;
        if (p.tensor != nullptr) address = ctx.tensor(p.tensor).base;
        if (p.scratch >= 0) address = scratch.at(static_cast<std::size_t>(p.scratch));
        const bool is_address = p.tensor != nullptr || p.scratch >= 0;
        slots.push_back(is_address ? reinterpret_cast<std::uintptr_t>(address) : p.bits);
        sizes.push_back(p.size);
      }
      std::vector<void*> pointers;
      pointers.reserve(slots.size());
      for (std::uint64_t& slot : slots) pointers.push_back(&slot);
      ctx.launch(ctx.variant(request), launch.shape, {pointers.data(), sizes.data(), sizes.size()});
    }
  }

 private:
  const std::vector<RecordedImage>& images_;
  const std::vector<RecordedCall>& calls_;
};

}  // namespace redzone::standalone
