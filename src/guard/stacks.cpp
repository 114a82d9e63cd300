#include "guard/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "interpose/python_places.h"

namespace redzone::guard {
namespace {

// Prefixes of file names; Python packages put a hash behind the first part.
constexpr std::array<std::string_view, 3> kCudaFiles{"libcudart.so", "libcudart-", "libcuda.so"};
constexpr std::array<std::string_view, 3> kOtherFiles{"libc.so", "libstdc++.so", "libc++.so"};
// Prefix of the internal functions in the runtime that nvcc links into programs.
constexpr std::string_view kStaticRuntime = "libcudart_static_";
// Prefix of the function templates in <cuda_runtime.h> that wrap runtime functions, if the compiler
// did not inline them. The names of templates begin with the return type.
constexpr std::string_view kRuntimeTemplate = "cudaError cuda";

// The entry point that the kernel starts: each stack of the main thread ends there.
constexpr std::string_view kEntry = "_start";

template <class Files>
bool is_of(const Frame& frame, const Files& files) {
  const std::string name = std::filesystem::path(frame.module).filename().string();
  return std::any_of(files.begin(), files.end(),
                     [&](std::string_view file) { return name.starts_with(file); });
}

bool is_identifier(std::string_view text) {
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
         std::string_view::npos;
}

// Number of innermost frames of the runtime or the driver, including the function that the program
// called. If the runtime is linked into the program, only the names of functions identify its
// frames.
std::size_t cuda_frames(const std::vector<Frame>& stack) {
  const auto is_static = [](const Frame& f) { return f.function.starts_with(kStaticRuntime); };
  std::size_t n = 0;
  while (n < stack.size() && (is_static(stack[n]) || is_of(stack[n], kCudaFiles))) ++n;
  if (n != 0 && n < stack.size() && is_static(stack[n - 1]) &&
      stack[n].function.starts_with("cuda") && is_identifier(stack[n].function))
    ++n;
  return n;
}

bool is_same_function(const Frame& a, const Frame& b) {
  return a.module == b.module &&
         (a.function.empty() ? a.address == b.address : a.function == b.function);
}

bool is_same_function(const PythonFrame& a, const PythonFrame& b) {
  return a.file == b.file && a.function == b.function;
}

// Up to `most` frames from `begin` on for which `own` is true; the innermost frame of all if there
// are none.
template <class F, class Own>
std::vector<const F*> chosen(const std::vector<F>& stack, std::size_t begin, std::size_t most,
                             Own own) {
  std::vector<const F*> out;
  for (std::size_t i = begin; i < stack.size() && out.size() < most; ++i)
    if (own(stack[i]) && (out.empty() || !is_same_function(*out.back(), stack[i])))
      out.push_back(&stack[i]);
  if (out.empty() && !stack.empty()) out.push_back(&stack.front());
  return out;
}

}  // namespace

std::span<const Frame> shown(const std::vector<Frame>& stack) {
  const std::span<const Frame> all(stack);
  const std::size_t n = cuda_frames(stack);
  return n == 0 || n == stack.size() ? all : all.subspan(n - 1);
}

std::string text_of(const Frame& frame) {
  if (frame.module.empty()) return fmt::format("{:#x}", frame.address);
  const std::string place = fmt::format("{}+{:#x}", frame.module, frame.offset);
  return frame.function.empty() ? place : fmt::format("{} ({})", frame.function, place);
}

const Frame* caller(const std::vector<Frame>& stack) {
  const auto found = callers(stack, 1);
  return found.empty() ? nullptr : found.front();
}

std::vector<const Frame*> callers(const std::vector<Frame>& stack, std::size_t most) {
  return chosen(stack, cuda_frames(stack), most, [](const Frame& frame) {
    return !is_of(frame, kOtherFiles) && !is_of(frame, kCudaFiles) &&
           !frame.function.starts_with(kRuntimeTemplate) && frame.function != kEntry;
  });
}

const PythonFrame* caller(const std::vector<PythonFrame>& stack) {
  const auto found = callers(stack, 1);
  return found.empty() ? nullptr : found.front();
}

std::vector<const PythonFrame*> callers(const std::vector<PythonFrame>& stack, std::size_t most) {
  return chosen(stack, 0, most, [](const PythonFrame& frame) {
    return !interpose::is_installed_python(frame.file);
  });
}

}  // namespace redzone::guard
