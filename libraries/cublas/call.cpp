#include "cublas/call.h"

#include <cstring>

#include "common/product.h"

namespace redzone::libraries::cublas {
namespace {

// Values of cublasStatus_t.
constexpr int kInvalidValue = 7, kArchMismatch = 8, kNotSupported = 15;

std::string status_name(int status) {
  switch (status) {
    case 1:
      return "not initialized";
    case 3:
      return "allocation failed";
    case kInvalidValue:
      return "invalid value";
    case kArchMismatch:
      return "architecture mismatch";
    case 11:
      return "mapping error";
    case 13:
      return "execution failed";
    case 14:
      return "internal error";
    case kNotSupported:
      return "not supported";
    default:
      return "status " + std::to_string(status);
  }
}

// The index of a knob's letter among the letters of its enumeration.
int place_of(const std::string& letter, std::string_view letters) {
  const auto at = letter.size() == 1 ? letters.find(letter[0]) : std::string_view::npos;
  if (at == std::string_view::npos) throw SpecError("no such letter: '" + letter + "'");
  return static_cast<int>(at);
}

}  // namespace

int op_of(const std::string& letter) {
  return place_of(letter, "NTC");
}
int uplo_of(const std::string& letter) {
  return place_of(letter, "LU");
}
int diag_of(const std::string& letter) {
  return place_of(letter, "NU");
}
int side_of(const std::string& letter) {
  return place_of(letter, "LR");
}

BlasCall::BlasCall(Context& ctx, Type type) : ctx_(ctx), type_(type), library_(library()) {
  void* const workspace = ctx.workspace("cublas", kWorkspaceBytes);
  if (ctx.ended()) return;
  if (const int status = use(ctx.stream(), workspace); status != 0)
    report("cublasSetWorkspace", status);
}

Index BlasCall::pitch(std::string_view tensor) const {
  const auto t = ctx_.tensor(tensor);
  return {t.strides[t.strides.size() - 2]};
}

Stored BlasCall::stored(std::string_view tensor) const {
  const ColumnMajor matrix = column_major(ctx_.tensor(tensor));
  return {matrix.base, op_of(matrix.transposed ? "T" : "N"), {matrix.ld}};
}

const void* BlasCall::scalar(std::string_view knob, DType type) {
  const auto value = static_cast<double>(ctx_.knob(knob));
  Scalar& scalar = scalars_.at(used_++);
  if (real_type(type) == DType::f64) {
    std::memcpy(scalar.bytes.data(), &value, sizeof value);
  } else if (type == DType::i32) {
    const auto integer = static_cast<std::int32_t>(value);
    std::memcpy(scalar.bytes.data(), &integer, sizeof integer);
  } else {
    const auto single = static_cast<float>(value);
    std::memcpy(scalar.bytes.data(), &single, sizeof single);
  }
  return scalar.bytes.data();
}

void BlasCall::report(const std::string& name, int status) {
  if (status == 0) return;
  if (status == kNotSupported || status == kArchMismatch)
    return ctx_.unsupported(name + ": " + status_name(status));
  ctx_.fail("cublas", name + ": " + status_name(status));
}

}  // namespace redzone::libraries::cublas
