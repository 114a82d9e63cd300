#include "device/host/encode.h"

#include <redzone/host_bulk_copy.h>

#include <cstring>

#include "tma/checker.h"

namespace redzone::device {
namespace {

// CUDA_ERROR_INVALID_VALUE.
constexpr int kRefused = 1;

bool is_emulated(const tma::Descriptor& d) {
  return d.kind == tma::Kind::tiled && d.interleave == tma::Interleave::none &&
         tma::element_bits(d.type) % 8 == 0 && !tma::is_spread(d.type) &&
         (d.swizzle == tma::Swizzle::none ||
          (tma::number(d.swizzle) <= tma::number(tma::Swizzle::b128) &&
           d.box[0] * tma::element_bits(d.type) / 8 == tma::swizzle_span_bytes(d.swizzle)));
}

host::TensorMapFields fields_of(const tma::Descriptor& d) {
  host::TensorMapFields f;
  f.mark = host::TensorMapFields::kMark;
  f.address = d.address;
  f.rank = static_cast<std::uint8_t>(d.rank);
  f.element_bytes = static_cast<std::uint8_t>(tma::element_bits(d.type) / 8);
  f.swizzle_bytes = static_cast<std::uint8_t>(tma::swizzle_span_bytes(d.swizzle));
  f.nan_fill = d.fill == tma::Fill::nan;
  for (std::uint32_t k = 0; k < d.rank; ++k) {
    f.dims[k] = d.dims[k];
    f.box[k] = static_cast<std::uint16_t>(d.box[k]);
    f.element_strides[k] = static_cast<std::uint8_t>(d.element_strides[k]);
    if (k > 0) f.strides[k - 1] = d.strides[k - 1];
  }
  return f;
}

}  // namespace

Status<int> encode_for_host(const tma::Descriptor& descriptor, TensorMap& map) {
  if (tma::answer_of_driver(tma::check(descriptor)) == tma::Answer::rejects) return kRefused;
  if (!is_emulated(descriptor))
    return tl::unexpected(Failure{Failure::Kind::unsupported, "no-such-copy",
                                  "the host device has no bulk copies with an interleave, of "
                                  "im2col, of packed types, of this swizzle, or of "
                                  "swizzled rows that are not as wide as their pattern"});
  const host::TensorMapFields fields = fields_of(descriptor);
  map = {};
  std::memcpy(map.bytes, &fields, sizeof fields);
  return 0;
}

}  // namespace redzone::device
