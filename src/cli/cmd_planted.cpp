// `redzone planted-overrun`: writes past a block. Started by doctor under the guard, not by users.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "cli/commands.h"
#include "engine/guard_proof.h"
#include "interpose/driver_abi.h"

namespace redzone::cli {
namespace {

constexpr std::size_t kBytes = 4000, kBeyond = 16;
constexpr int kMisses = 1;  // exit code if the overrun did not end the process

class PlantedOverrun final : public Command {
 public:
  std::string_view name() const override { return engine::kPlantedCommand; }
  std::string_view synopsis() const override { return "redzone planted-overrun [--driver]"; }
  std::string_view summary() const override { return "writes past a block (internal)"; }
  bool internal() const override { return true; }
  void declare(po::options_description& flags, po::positional_options_description&) const override {
    flags.add_options()("driver", po::bool_switch(), "past a block of the CUDA driver");
  }
  Result<int> run(const po::variables_map& flags, Results& out) override;
};

Result<int> past_malloc() {
  // The guard page ends the process, whose core dump is not needed.
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  auto* volatile block = static_cast<char*>(std::malloc(kBytes));
  if (block == nullptr) return harness_error("no memory");
  const_cast<volatile char*>(block)[kBytes] = 1;
  std::free(block);
  return kMisses;
}

// Looks up a function of the driver as programs do.
template <class F>
Result<F> driver_function(void* library, const char* name) {
  void* const at = ::dlsym(library, name);
  if (at == nullptr) return harness_error(fmt::format("libcuda.so.1 has no {}", name));
  return reinterpret_cast<F>(at);
}

Result<void> succeeded(int result, const char* name) {
  if (result == interpose::kCuSuccess) return {};
  return harness_error(fmt::format("{} returned {}", name, result));
}

// Uses a memset of the driver, which the guard checks against its blocks, so no kernel is needed.
Result<int> past_driver_block() {
  using interpose::CuAddress;
  using interpose::CuContext;
  using interpose::CuDevice;
  using interpose::CuStream;
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return harness_error("libcuda.so.1 cannot be loaded");
  RZ_TRY_ASSIGN(const auto init, driver_function<int (*)(unsigned)>(library, "cuInit"));
  RZ_TRY_ASSIGN(const auto retain, driver_function<int (*)(CuContext*, CuDevice)>(
                                       library, "cuDevicePrimaryCtxRetain"));
  RZ_TRY_ASSIGN(const auto set_current,
                driver_function<int (*)(CuContext)>(library, "cuCtxSetCurrent"));
  RZ_TRY_ASSIGN(const auto allocate,
                driver_function<int (*)(CuAddress*, std::size_t)>(library, "cuMemAlloc_v2"));
  RZ_TRY_ASSIGN(const auto set_bytes,
                driver_function<int (*)(CuAddress, unsigned char, std::size_t, CuStream)>(
                    library, "cuMemsetD8Async"));
  CuContext context = nullptr;
  CuAddress block = 0;
  RZ_TRY(succeeded(init(0), "cuInit"));
  RZ_TRY(succeeded(retain(&context, 0), "cuDevicePrimaryCtxRetain"));
  RZ_TRY(succeeded(set_current(context), "cuCtxSetCurrent"));
  RZ_TRY(succeeded(allocate(&block, kBytes), "cuMemAlloc"));
  // The result does not matter: the guard checks the call before the driver does.
  set_bytes(block, 1, kBytes + kBeyond, nullptr);
  return kMisses;
}

Result<int> PlantedOverrun::run(const po::variables_map& flags, Results&) {
  return flags["driver"].as<bool>() ? past_driver_block() : past_malloc();
}

}  // namespace

std::unique_ptr<Command> make_planted_overrun() {
  return std::make_unique<PlantedOverrun>();
}

}  // namespace redzone::cli
