#include "report/tensors.h"

#include <gtest/gtest.h>

namespace redzone::report {
namespace {

const std::vector<PlanTensor> kTensors{
    {0, "x", Role::in, DType::f16, {2, 3}, {8, 1}, 1, 24},
    {1, "y", Role::out, DType::f64, {}, {}, 0, 1234567},
};

TEST(Tensors, AreRowsOfATable) {
  EXPECT_EQ(tensors_text(kTensors),
            "\ntensors (strides and offsets in elements)\n"
            "  call  tensor  role  type  shape   strides  offset      bytes\n"
            "     1  x       in    f16   [2, 3]  [8, 1]        1         24\n"
            "     2  y       out   f64   []      []            0  1,234,567\n");
}

TEST(Tensors, AreObjects) {
  EXPECT_EQ(tensors_json(kTensors), nlohmann::ordered_json::parse(R"([
    {"call": 1, "tensor": "x", "role": "in", "dtype": "f16", "shape": [2, 3], "strides": [8, 1],
     "offset_elems": 1, "storage_bytes": 24},
    {"call": 2, "tensor": "y", "role": "out", "dtype": "f64", "shape": [], "strides": [],
     "offset_elems": 0, "storage_bytes": 1234567}])"));
}

}  // namespace
}  // namespace redzone::report
