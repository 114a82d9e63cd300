#include "described/description.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "described/read_description.h"

namespace redzone::described {
namespace {

constexpr const char* kHead = R"("name": "my.add", "deterministic": true)";

Result<Description> read(const std::string& fields, const Rules& rules = {}) {
  const auto document = read_json(std::string("{") + kHead + ", " + fields + "}", "d.json");
  if (!document) return tl::unexpected(document.error());
  return checked_read([&] {
    Description description;
    TableReader root(*document);
    read_head(root, description);
    read_lists(root, rules, description);
    root.done();
    return description;
  });
}

constexpr const char* kDims = R"("dim": [
  {"name": "T", "min": 1, "max": 64, "multiple_of": 1},
  {"name": "C", "values": [2, 4], "doc": "of a chunk"}],
  "knob": [{"name": "BLOCK", "values": [16, 32]}, {"name": "mode", "values": ["fast", "exact"]}])";

constexpr const char* kTensors = R"("tensor": [
  {"name": "x", "dtype": "f32", "role": "in", "shape": ["T // C", "C"], "align_bytes": 16,
   "layout": {"row_padding": true, "unit_strides": true, "granule_elems": 8}},
  {"name": "y", "dtype": "f32", "role": "out", "shape": ["T"], "align_bytes": 16}])";

std::string among_dims(const std::string& more) {
  return std::string(kDims) + ", " + more + ", " + kTensors;
}

TEST(Description, MakesASpec) {
  const auto description = read(among_dims(R"("work": "T * BLOCK")"));
  ASSERT_TRUE(description) << description.error().message;
  const auto spec = spec_of(std::make_shared<const Description>(*description));
  const Dims dims{{"C", 4}, {"T", 12}};
  const Config config{{"BLOCK", std::int64_t{32}}, {"mode", std::string("fast")}};
  EXPECT_EQ(spec.name, "my.add");
  EXPECT_EQ(spec.tensors[0].shape(dims), (Shape{3, 4}));
  EXPECT_TRUE(spec.tensors[0].layouts.row_padding);
  EXPECT_TRUE(spec.tensors[0].layouts.unit_strides);
  EXPECT_FALSE(spec.tensors[0].layouts.transposed);
  EXPECT_EQ(spec.tensors[0].layouts.granule_elems, 8);
  EXPECT_FALSE(spec.tensors[1].layouts.row_padding);
  EXPECT_EQ(spec.work(dims, config), 384);
}

TEST(Description, SaysWhichTensorCountsAnOutput) {
  const std::string lengths = R"({"name": "n", "dtype": "i32", "role": "in", "shape": [4]}, )";
  const auto counted = [&](const std::string& by) {
    return read(R"("tensor": [)" + lengths +
                R"({"name": "y", "dtype": "f32", "role": "out", "shape": [4, 8], "counted_by": )" +
                by + "}]");
  };
  const auto rows = counted(R"({"tensor": "n", "dim": 1})");
  ASSERT_TRUE(rows) << rows.error().message;
  const auto spec = spec_of(std::make_shared<const Description>(*rows));
  EXPECT_FALSE(spec.tensors[0].counted_by);
  ASSERT_TRUE(spec.tensors[1].counted_by);
  EXPECT_EQ(spec.tensors[1].counted_by->tensor, "n");
  EXPECT_EQ(spec.tensors[1].counted_by->dim, 1);
  EXPECT_EQ(counted(R"({"tensor": "n"})")->tensors[1].counted_by->dim, 0);
  for (const char* wrong : {R"({"tensor": "n", "dim": 5})", R"({"tensor": "n", "dim": -1})",
                            R"({"dim": 1})", R"({"tensor": "n", "axis": 1})", R"("n")"})
    EXPECT_FALSE(counted(wrong)) << wrong;
}

TEST(Description, MayBeSilentAboutAnAlignment) {
  const auto description =
      read(R"("tensor": [{"name": "x", "dtype": "f64", "role": "in", "shape": [1]},)"
           R"( {"name": "y", "dtype": "f64", "role": "out", "shape": [1], "align_bytes": 8}])");
  ASSERT_TRUE(description) << description.error().message;
  const auto spec = spec_of(std::make_shared<const Description>(*description));
  EXPECT_EQ(spec.tensors[0].align_bytes, 0u);
  EXPECT_EQ(spec.tensors[0].promised_align_bytes(), 16u);
  EXPECT_EQ(spec.tensors[1].promised_align_bytes(), 8u);
}

TEST(Description, RequiresWhatItSays) {
  const auto description = read(among_dims(R"json("constraint": [
    {"kind": "require", "holds": "T % C == 0 and (mode_is_fast or BLOCK == 16)",
     "text": "my.py:7: T % C == 0"}])json"));
  ASSERT_TRUE(description) << description.error().message;
  const auto spec = spec_of(std::make_shared<const Description>(*description));
  ASSERT_EQ(spec.constraints.size(), 1u);
  EXPECT_EQ(spec.constraints[0].text, "my.py:7: T % C == 0");
  const auto holds = [&](std::int64_t t, std::int64_t block, const char* mode) {
    return spec.constraints[0].holds({{"C", 4}, {"T", t}},
                                     {{"BLOCK", block}, {"mode", std::string(mode)}});
  };
  EXPECT_TRUE(holds(8, 32, "fast"));
  EXPECT_FALSE(holds(9, 32, "fast"));
  EXPECT_TRUE(holds(8, 16, "exact"));
  EXPECT_FALSE(holds(8, 32, "exact"));
}

// A predicate without a value, as by a division by zero, does not hold.
TEST(Description, WhatHasNoValueDoesNotHold) {
  const auto description =
      read(among_dims(R"("constraint": [{"kind": "require", "holds": "T % (C - 4) == 0"}])"));
  ASSERT_TRUE(description) << description.error().message;
  const auto& constraint = description->constraints.front();
  const Config config{{"BLOCK", std::int64_t{16}}, {"mode", std::string("fast")}};
  EXPECT_TRUE(constraint.holds({{"C", 6}, {"T", 8}}, config));
  EXPECT_FALSE(constraint.holds({{"C", 4}, {"T", 8}}, config));
  EXPECT_EQ(constraint.text, "T % (C - 4) == 0");
}

TEST(Description, AnyTextMayBeAValueWhereTheRulesSayIt) {
  const std::string knob = R"("knob": [{"name": "f", "values": ["<lambda> at 0", "x y"]}], )";
  const auto refused = read(knob + kTensors);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'<lambda> at 0' is not an identifier"), std::string::npos)
      << refused.error().message;
  const std::string tensor =
      R"("tensor": [{"name": "y", "dtype": "f32", "role": "out", "shape": [1], "align_bytes": 16}])";
  EXPECT_TRUE(read(knob + tensor, {.knob_texts_are_names = false}));
}

// Values are looked up one by one.
TEST(Description, ListsNoMoreThanCanBeLookedUp) {
  const auto numbers = [](int count) {
    std::string list = "[0";
    for (int i = 1; i < count; ++i) list += fmt::format(", {}", i);
    return list + "]";
  };
  const std::string long_name(201, 'k');
  const auto knob = [](const std::string& name, const std::string& values) {
    return fmt::format(R"("knob": [{{"name": "{}", "values": {}}}], )", name, values);
  };
  for (const auto& [list, says] :
       {std::pair{knob("k", numbers(1025)), std::string("values: 1025 of them, at most 1024")},
        {knob("k", "[1, 2, 1]"), "values: a value is listed twice"},
        {knob(long_name, "[1]"), "name: 201 characters, at most 200"}}) {
    const auto refused = read(list + kTensors);
    ASSERT_FALSE(refused) << says;
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

TEST(Description, SaysWhichFieldIsWrong) {
  const auto tensor = [](const std::string& fields) {
    return std::string(kDims) +
           R"(, "tensor": [{"name": "y", "dtype": "f32", "align_bytes": 16, "shape": [1], )" +
           fields + "}]";
  };
  const std::pair<std::string, const char*> rows[] = {
      {among_dims(R"("constraint": [{"kind": "require", "holds": "T % D"}])"),
       "constraint[0].holds: 'T % D' has the unknown name 'D'"},
      {among_dims(R"("constraint": [{"kind": "require"}])"), "constraint[0].holds: missing"},
      {among_dims(R"("constraint": [{"kind": "require", "holds": "T", "a": "T"}])"),
       "constraint[0].a: unknown field"},
      {tensor(R"("role": "out", "layout": {"padded": true})"),
       "tensor[y].layout.padded: unknown field"},
      {tensor(R"("role": "out", "layout": {"granule_elems": 0})"),
       "tensor[y].layout.granule_elems: 0 is not in 1..1048576"},
      {tensor(R"("role": "out", "returned": true)"), "tensor[y].returned: unknown field"},
  };
  for (const auto& [fields, problem] : rows) {
    const auto description = read(fields);
    ASSERT_FALSE(description) << fields;
    EXPECT_NE(description.error().message.find(problem), std::string::npos)
        << description.error().message;
  }
  const auto inout = read(tensor(R"("role": "inout", "returned": true)"), {.returns = true});
  ASSERT_FALSE(inout);
  EXPECT_NE(inout.error().message.find("only an output of role 'out'"), std::string::npos);
  const auto out = read(tensor(R"("role": "out", "returned": true)"), {.returns = true});
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_TRUE(out->tensors[0].returned);
}

}  // namespace
}  // namespace redzone::described
