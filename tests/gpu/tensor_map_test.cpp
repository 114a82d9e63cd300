// The driver's results for TMA descriptors, through the real entry points.
#include "device/tensor_map.h"

#include <gtest/gtest.h>

#include "generators/descriptor_simplify.h"
#include "generators/descriptors.h"
#include "report/tma_agreement.h"

namespace redzone::device {
namespace {

TEST(TensorMap, CheckerAndDriverAgree) {
  auto encoder = open_tensor_map_encoder();
  if (!encoder) GTEST_SKIP() << encoder.error().detail;
  generators::DescriptorGenerator generator(20);
  tma::AgreementSetup setup;
  setup.count = 200000;
  setup.compute_capability = (*encoder)->compute_capability();
  setup.next = [&] { return generator.next().descriptor; };
  setup.encode = [&](const tma::Descriptor& d) { return (*encoder)->encode(d); };
  setup.reduce = [](const tma::Descriptor& found, const auto& predicate) {
    return generators::smallest_descriptor(found, predicate);
  };
  const auto agreement = tma::compare(setup);
  ASSERT_TRUE(agreement) << agreement.error().message;
  EXPECT_EQ(agreement->disagreed, 0u) << report::agreement_text(
      {(*encoder)->device_name(), (*encoder)->driver_version(), 20, *agreement});
}

TEST(TensorMap, TheStrideOfADimOfSizeOneIsLookedAt) {
  auto encoder = open_tensor_map_encoder();
  if (!encoder) GTEST_SKIP() << encoder.error().detail;
  tma::Descriptor d;
  d.rank = 3;
  d.address = 256;
  d.dims = {128, 1, 32, 1, 1};
  d.box = {64, 128, 1, 1, 1};
  d.swizzle = tma::Swizzle::b128;
  for (const auto& [stride, code] : {std::pair{2u, 1}, {256u, 0}, {8192u, 0}, {16u, 0}, {0u, 0}}) {
    d.strides = {stride, 256, 0, 0};
    EXPECT_EQ((*encoder)->encode(d), code) << stride;
  }
}

}  // namespace
}  // namespace redzone::device
