#include "package/parameters.h"

#include "core/error.h"
#include "device/element.h"

namespace redzone::package {
namespace {

DType element_type(const Scalar& type) {
  if (type.kind == Scalar::Kind::brain_real) return DType::bf16;
  return type.bits == 64 ? DType::f64 : type.bits == 32 ? DType::f32 : DType::f16;
}

std::uint64_t encode(const Argument& argument, const Constant& value) {
  if (argument.type.is_integer()) return static_cast<std::uint64_t>(std::get<std::int64_t>(value));
  return device::encode_real(element_type(argument.type), std::get<double>(value));
}

}  // namespace

Parameters::Parameters(const Package& package, const Variant& variant, const ResolvedCall& call,
                       std::span<const std::uintptr_t> addresses, void* global, void* profile)
    : sizes_(parameter_bytes(package, variant)) {
  for (const std::size_t i : variant.passed) {
    const Argument& argument = package.arguments[i];
    slots_.push_back(argument.kind == Argument::Kind::tensor ? std::uint64_t{addresses[i]}
                                                             : encode(argument, call.arguments[i]));
  }
  slots_.push_back(reinterpret_cast<std::uintptr_t>(global));
  slots_.push_back(reinterpret_cast<std::uintptr_t>(profile));
  RZ_CHECK(slots_.size() == sizes_.size());
  for (auto& slot : slots_) pointers_.push_back(&slot);
}

}  // namespace redzone::package
