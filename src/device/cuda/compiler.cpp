#include "device/cuda/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "redzone_kernel_header.h"

namespace redzone::device::cuda {
namespace {

constexpr std::size_t kLogLines = 12;

class Program {
 public:
  Program(const NvrtcApi& nvrtc, const char* source, const char* name) : nvrtc_(nvrtc) {
    const std::string header(kernel_header());
    const char* headers[] = {header.c_str()};
    const char* names[] = {"redzone/kernel.h"};
    created_ = nvrtc_.create(&program_, source, name, 1, headers, names);
  }
  ~Program() {
    if (program_ != nullptr) nvrtc_.destroy(&program_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult created() const { return created_; }
  nvrtcProgram get() const { return program_; }

  std::string log() const {
    std::size_t bytes = 0;
    if (nvrtc_.log_size(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
    std::string text(bytes, '\0');
    if (nvrtc_.log(program_, text.data()) != NVRTC_SUCCESS) return {};
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

 private:
  const NvrtcApi& nvrtc_;
  nvrtcProgram program_ = nullptr;
  nvrtcResult created_;
};

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kLogLines && end != std::string::npos; ++line)
    end = text.find('\n', line == 0 ? 0 : end + 1);
  return end == std::string::npos ? text : text.substr(0, end) + "\n...";
}

Failure failure(const NvrtcApi& nvrtc, const VariantRequest& request, std::string_view step,
                nvrtcResult result, const std::string& log = {}) {
  std::string detail =
      fmt::format("kernel '{}' ({}): {}: {}", request.name != nullptr ? request.name : "",
                  request.expression, step, nvrtc.error_string(result));
  if (!log.empty()) detail += "\n" + first_lines(log);
  return {Failure::Kind::harness, nvrtc.error_string(result), std::move(detail)};
}

bool is_standard(const std::string& option) {
  return option.rfind("-std", 0) == 0 || option.rfind("--std", 0) == 0;
}

}  // namespace

std::string arch_name(int compute_capability) {
  return fmt::format("sm_{}{}", compute_capability, compute_capability == 90 ? "a" : "");
}

std::string_view kernel_header() {
  return redzone_kernel_header;
}

Status<Cubin> compile_variant(const NvrtcApi& nvrtc, const VariantRequest& request,
                              const std::string& arch) {
  const std::string source(request.source);  // NVRTC requires a terminated string
  const Program program(nvrtc, source.c_str(), request.name);
  const auto fail = [&](std::string_view step, nvrtcResult r, const std::string& log = {}) {
    return tl::unexpected(failure(nvrtc, request, step, r, log));
  };
  if (program.created() != NVRTC_SUCCESS) return fail("nvrtcCreateProgram", program.created());
  const char* expression = request.expression.c_str();
  if (auto r = nvrtc.add_expression(program.get(), expression); r != NVRTC_SUCCESS)
    return fail("nvrtcAddNameExpression", r);

  const std::string arch_option = "--gpu-architecture=" + arch;
  std::vector<const char*> options = {arch_option.c_str()};
  if (std::none_of(request.options.begin(), request.options.end(), is_standard))
    options.push_back("--std=c++20");
  for (const auto& option : request.options) options.push_back(option.c_str());
  if (auto r = nvrtc.compile(program.get(), static_cast<int>(options.size()), options.data());
      r != NVRTC_SUCCESS)
    return fail("compilation", r, program.log());

  const char* lowered = nullptr;
  if (auto r = nvrtc.lowered_name(program.get(), expression, &lowered); r != NVRTC_SUCCESS)
    return fail("nvrtcGetLoweredName", r);
  std::size_t bytes = 0;
  if (auto r = nvrtc.cubin_size(program.get(), &bytes); r != NVRTC_SUCCESS)
    return fail("nvrtcGetCUBINSize", r);
  Cubin cubin{lowered, std::string(bytes, '\0')};
  if (auto r = nvrtc.cubin(program.get(), cubin.image.data()); r != NVRTC_SUCCESS)
    return fail("nvrtcGetCUBIN", r);
  return cubin;
}

}  // namespace redzone::device::cuda
