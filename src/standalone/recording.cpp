#include "standalone/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/round_up.h"
#include "standalone/program.h"
#include "trial/tensor_buffer.h"

namespace redzone::standalone {
namespace {

// Size of mappings of CUDA's virtual memory management (run.h, Buffer).
constexpr std::size_t kGranularityBytes = std::size_t{2} << 20;
// Persistent grids are sized for a device with this many multiprocessors: an H100 SXM.
constexpr int kMultiprocessors = 132;

// The address of a buffer in the program, except for the part that depends on the mapping.
std::uintptr_t place(std::size_t index, const trial::Storage& storage, Placement placement) {
  const std::uintptr_t base = (std::uintptr_t{0x5ed} << 48) + (std::uintptr_t{index} << 40);
  const std::size_t bytes = storage.bytes, align = storage.align_bytes, skew = storage.skew_bytes;
  const std::size_t mapped = round_up(bytes + align + skew, kGranularityBytes);
  if (placement == Placement::guard_before) return base + skew;
  return (base + mapped - bytes - skew) / align * align + skew;
}

struct Tensor {
  std::string name;
  trial::TensorBuffer buffer;
  std::uintptr_t address = 0;  // address of element [0, 0, ..]
};

struct Scratch {
  std::string name;
  std::size_t bytes, align;
  std::uintptr_t address;
};

struct Parameter {
  std::size_t size;
  std::uint64_t bits;
};

struct Launch {
  std::size_t image;
  LaunchShape shape;
  std::vector<Parameter> parameters;
};

struct Image {
  std::string kernel;
  std::string_view bytes;  // from the package
};

// Records one call with addresses that have no memory.
class RecordingContext final : public Context {
 public:
  RecordingContext(const Call& call, Placement placement, std::vector<Tensor>& tensors,
                   std::vector<Image>& images)
      : call_(call), placement_(placement), tensors_(tensors), images_(images) {}

  const Dims& dims() const override { return call_.dims; }
  const Config& config() const override { return call_.config; }
  DeviceKind device() const override { return kProgramDevice; }
  int multiprocessors() const override { return kMultiprocessors; }
  TensorArg tensor(std::string_view name) const override {
    for (const Tensor& t : tensors_)
      if (t.name == name)
        return {reinterpret_cast<void*>(t.address), t.buffer.dtype, t.buffer.view.shape,
                t.buffer.view.strides};
    throw std::out_of_range("no tensor '" + std::string(name) + "'");
  }
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align) override {
    const std::uintptr_t address =
        place(tensors_.size() + scratch_.size(), {bytes, 0, align}, placement_);
    scratch_.push_back({std::string(name), bytes, align, address});
    return reinterpret_cast<void*>(address);
  }
  void* scratch(std::string_view name, std::size_t bytes, std::size_t align,
                const ScratchNeed&) override {
    return bytes == 0 ? nullptr : scratch(name, bytes, align);
  }
  KernelRef variant(const VariantRequest& request) override {
    if (request.image.empty()) return refuse<KernelRef>("kernels that are compiled at run time");
    auto it = std::find_if(images_.begin(), images_.end(), [&](const Image& image) {
      return image.bytes == request.image && image.kernel == request.expression;
    });
    if (it == images_.end()) it = images_.insert(it, {request.expression, request.image});
    // Numbers begin at 1, so that the pointer is never null.
    const auto number = static_cast<std::uintptr_t>(it - images_.begin()) + 1;
    return {request.name, reinterpret_cast<void*>(number), nullptr, nullptr};
  }
  void launch(const KernelRef& kernel, const LaunchShape& shape, const LaunchArgs& args) override {
    Launch launch{reinterpret_cast<std::uintptr_t>(kernel.function) - 1, shape, {}};
    for (std::size_t i = 0; i < args.count; ++i) {
      std::uint64_t bits = 0;
      if (args.sizes[i] > sizeof bits) return refuse<void>("parameters of more than 8 bytes");
      std::memcpy(&bits, args.pointers[i], args.sizes[i]);
      launch.parameters.push_back({args.sizes[i], bits});
    }
    launches_.push_back(std::move(launch));
  }

  void* stream() const override { return nullptr; }
  void* stream(int) const override { return nullptr; }
  void wait(int, int) override { refuse<void>("side streams"); }
  void* workspace(std::string_view, std::size_t, std::size_t) override {
    return refuse<void*>("memory that it keeps from call to call");
  }
  void* growing_workspace(std::string_view, std::size_t) override {
    return refuse<void*>("memory that it keeps from call to call");
  }
  void* allocate(std::string_view, std::size_t, int) override {
    return refuse<void*>("memory that it allocates");
  }
  void free(void*, int) override { refuse<void>("memory that it allocates"); }
  void* pinned_memory(std::string_view, std::size_t) override {
    return refuse<void*>("memory of the host");
  }
  void copy(void*, const void*, std::size_t, int) override { refuse<void>("copies"); }
  void memset(void*, std::uint8_t, std::size_t, int) override { refuse<void>("memsets"); }
  EncodeStatus encode_tiled(std::string_view, const tma::Descriptor&, TensorMap&) override {
    return refuse<EncodeStatus>("TMA descriptors of the host");
  }
  void begin_capture() override { refuse<void>("graphs"); }
  GraphRef end_capture() override { return {}; }
  void replay(const GraphRef&, int) override {}
  void unsupported(std::string reason) override { problem_ = std::move(reason); }
  void fail(std::string code, std::string message) override { problem_ = code + ": " + message; }
  bool ended() const override { return problem_.has_value(); }

  const std::optional<std::string>& problem() const { return problem_; }
  const std::vector<Scratch>& scratch() const { return scratch_; }
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  template <class T>
  T refuse(std::string_view what) {
    if (!problem_) problem_ = fmt::format("the target needs {}", what);
    return T();
  }

  const Call& call_;
  Placement placement_;
  std::vector<Tensor>& tensors_;
  std::vector<Image>& images_;
  std::vector<Scratch> scratch_;
  std::vector<Launch> launches_;
  std::optional<std::string> problem_;
};

std::string extent_text(const Extent& e) {
  return fmt::format("{{{}, {}, {}}}", e.x, e.y, e.z);
}

std::string parameter_text(const Parameter& p, const std::vector<Tensor>& tensors,
                           const std::vector<Scratch>& scratch) {
  if (p.size == sizeof(std::uint64_t)) {
    for (const Tensor& t : tensors)
      if (t.address == p.bits) return fmt::format("{{8, 0, \"{}\"}}", t.name);
    for (std::size_t i = 0; i < scratch.size(); ++i)
      if (scratch[i].address == p.bits) return fmt::format("{{8, 0, nullptr, {}}}", i);
  }
  return fmt::format("{{{}, {:#x}ull}}", p.size, p.bits);
}

std::string launch_text(const Launch& launch, const std::vector<Tensor>& tensors,
                        const std::vector<Scratch>& scratch) {
  std::string parameters;
  for (const Parameter& p : launch.parameters)
    parameters += (parameters.empty() ? "" : ", ") + parameter_text(p, tensors, scratch);
  const LaunchShape& s = launch.shape;
  return fmt::format("       {{{}, {{{}, {}, {}, {}, {}, {}, {}}},\n        {{{}}}}},\n",
                     launch.image, extent_text(s.grid), extent_text(s.block), s.shared_bytes,
                     s.stream, extent_text(s.cluster), s.cooperative, s.dependent, parameters);
}

Result<std::string> call_text(const RecordingRequest& request, const Call& call,
                              Placement placement, std::vector<Image>& images) {
  Mode mode = request.plan->mode;
  mode.placement = placement;
  std::vector<Tensor> tensors;
  for (const TensorSpec& spec : request.spec->tensors) {
    Tensor t{spec.name, {}, 0};
    RZ_TRY(trial::describe_tensor(spec, *request.spec, call, mode, t.buffer));
    const auto& storage = t.buffer.storage;
    t.address = place(tensors.size(), storage, placement) + storage.lead_bytes +
                static_cast<std::size_t>(t.buffer.view.origin_elems) * dtype_bytes(t.buffer.dtype);
    tensors.push_back(std::move(t));
  }
  RecordingContext context(call, placement, tensors, images);
  // A package's target keeps only its loaded kernels between calls.
  const auto target = request.make();
  try {
    target->run(context);
  } catch (const std::exception& e) {
    return usage_error(fmt::format("the target threw: {}", e.what()));
  }
  if (context.problem())
    return usage_error(fmt::format("the package cannot be exported: {}", *context.problem()));
  std::string scratch, launches;
  for (const Scratch& s : context.scratch())
    scratch +=
        fmt::format("{}{{\"{}\", {}, {}}}", scratch.empty() ? "" : ", ", s.name, s.bytes, s.align);
  for (const Launch& launch : context.launches())
    launches += launch_text(launch, tensors, context.scratch());
  return fmt::format("      {{{{{}}},\n       {{\n{}       }}}},\n", scratch, launches);
}

Result<std::string> calls_text(const RecordingRequest& request, Placement placement,
                               std::vector<Image>& images) {
  std::string calls;
  for (const auto* step : calls_of(*request.plan)) {
    auto text = call_text(request, step->call, placement, images);
    if (!text) return text;
    calls += *text;
  }
  return calls;
}

std::string image_text(std::size_t index, const Image& image) {
  std::string bytes;
  for (std::size_t i = 0; i < image.bytes.size(); ++i)
    bytes += fmt::format("{}{},", i % 24 == 0 ? "\n    " : "",
                         static_cast<unsigned>(static_cast<unsigned char>(image.bytes[i])));
  return fmt::format("alignas(64) const unsigned char image_{}[] = {{{}}};\n\n", index, bytes);
}

}  // namespace

Result<std::string> recorded_source(const RecordingRequest& request) {
  std::vector<Image> images;
  const Placement placement = request.plan->mode.placement;
  auto calls = calls_text(request, placement, images);
  if (!calls) return calls;
  if (request.kind == FailKind::placement || request.kind == FailKind::divergence) {
    auto moved = calls_text(
        request,
        placement == Placement::guard_after ? Placement::guard_before : Placement::guard_after,
        images);
    if (!moved) return moved;
    if (*moved != *calls)
      return usage_error(
          "the package cannot be exported: another place of its buffers takes another kernel");
  }
  std::string bytes, list;
  for (std::size_t i = 0; i < images.size(); ++i) {
    bytes += image_text(i, images[i]);
    list += fmt::format("      {{\"{}\", image_{}, sizeof image_{}}},\n", images[i].kernel, i, i);
  }
  return fmt::format(
      "\nnamespace {{\n\n{}const std::vector<redzone::standalone::RecordedImage>& images() {{\n"
      "  static const std::vector<redzone::standalone::RecordedImage> all{{\n{}  }};\n"
      "  return all;\n}}\n\n"
      "const std::vector<redzone::standalone::RecordedCall>& recorded_calls() {{\n"
      "  static const std::vector<redzone::standalone::RecordedCall> all{{\n{}  }};\n"
      "  return all;\n}}\n\n}}  // namespace\n\n"
      "REDZONE_PLUGIN(registrar) {{\n  redzone::TargetSpec spec;\n  spec.name = \"{}\";\n"
      "  registrar.add(std::move(spec), [] {{\n"
      "    return std::make_unique<redzone::standalone::RecordedTarget>(images(), "
      "recorded_calls());\n  }});\n}}\n",
      bytes, list, *calls, request.spec->name);
}

}  // namespace redzone::standalone
