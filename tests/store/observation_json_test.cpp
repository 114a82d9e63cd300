#include "store/observation_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/sample_observation.h"

namespace redzone::store {
namespace {

using redzone::testing::sample_observation;

TEST(ObservationJson, RoundTrip) {
  const Observation o = sample_observation();
  const auto again = parse_observation(print_observation(o), "trial");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, o);
  for (const auto end : enumerators<End>()) {
    Observation plain;
    plain.end = end;
    EXPECT_EQ(*parse_observation(print_observation(plain), "trial"), plain);
  }
}

TEST(ObservationJson, NanComesBackAsNan) {
  Observation o = sample_observation();
  o.calls[0].references[0].got = std::nan("");
  o.calls[0].references[0].want = -std::numeric_limits<double>::infinity();
  const auto again = parse_observation(print_observation(o), "trial");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(std::isnan(again->calls[0].references[0].got));
  EXPECT_EQ(again->calls[0].references[0].want, -std::numeric_limits<double>::infinity());
}

TEST(ObservationJson, ExactForm) {
  Observation o;
  o.end = End::completed;
  o.calls = {CallObservation{.call = 0,
                             .buffers = {{.name = "y", .digest = 7, .numel = 2}},
                             .references = {},
                             .launches = {}}};
  o.wall_us = 5;
  EXPECT_EQ(print_observation(o),
            R"({"end":"completed","calls":[{"call":0,"buffers":[)"
            R"({"name":"y","role":"out","digest":7,"numel":2}]}],"wall_us":5})");
}

TEST(ObservationJson, TextThatIsNotUtf8IsRepaired) {
  Observation o;
  o.message = "bad \xff byte";
  const auto again = parse_observation(print_observation(o), "trial");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->message, "bad \xef\xbf\xbd byte");
}

TEST(ObservationJson, RubbishIsAnError) {
  for (const char* text :
       {"", "[]", "{}", "{\"end\":\"gone\",\"wall_us\":1}", "{\"end\":1,\"wall_us\":1}",
        R"({"end":"fault","wall_us":1,"calls":[{"call":"x"}]})",
        R"({"end":"fault","wall_us":1,"calls":[{"call":0,"launches":[{"kernel":"k","grid":[1],)"
        R"("block":[1,1,1]}]}]})"}) {
    const auto o = parse_observation(text, "trial 3");
    ASSERT_FALSE(o) << text;
    EXPECT_EQ(o.error().message.rfind("trial 3: not an observation", 0), 0u);
  }
}

// The form in existing stores. A change here changes the format.
TEST(ObservationJson, ExactFormWithEveryMember) {
  EXPECT_EQ(
      print_observation(sample_observation()),
      R"({"end":"fault","message":"a message","fault":{"code":"SIGSEGV","call":0,)"
      R"("kernel":"scan","buffer":"k","side":"after","access":"read","distance_bytes":4,)"
      R"("detail":"at 0x7f00","known_by":"progress markers"},"calls":[{"call":0,)"
      R"("buffers":[{"name":"x","role":"in","scratch":true,"surrounded":true,"digest":18446744073709551615,)"
      R"("numel":5,"dirty_before":6,"dirty_after":7,"dirty_gaps":8,"changed":3,)"
      R"("first_dirty_byte":-9},{"name":"io","role":"inout","digest":0,"numel":0}],)"
      R"("references":[{"tensor":"y","numel":10,"mismatches":1,"first_index":3,"got":"inf",)"
      R"("want":-0.1,"worst":1e+300,"of":4096}],"launches":[{"kernel":"scan","grid":[1,2,3],"block":[4,)"
      R"(5,6],"shared_bytes":7}],"scratch":[{"name":"s","bytes":256,"align":128,)"
      R"("bytes_per_cta":16,"grid":[4,3,2],"num_ctas":2,"need_align":64}],)"
      R"("comparison":"left-out","reference_us":11},{"call":4}],"encodes":[{"call":4,)"
      R"("name":"q","code":801,"rule":"stride-alignment","dim":1,"degenerate":true,)"
      R"("text":"2 bytes"},{"call":5,"name":"","code":1,"dim":-1}],"wall_us":12,)"
      R"("mapping_calls":13,"bytes":14,"idle":true,"sanitizer":{"tool":"memcheck",)"
      R"("records":[{"kind":"invalid-write","warning":true,"space":"global","access":"write",)"
      R"("size_bytes":4,"kernel":"scan","call":0,"buffer":"k","side":"before",)"
      R"("distance_bytes":8,"address":9223372036854775807,"thread":"1,0,0","block":"2,0,0",)"
      R"_("location":"scan.cu:7","other":"write at scan.cu:5 by thread (0,0,0) of block (1,0,0)",)_"
      R"("text":"Invalid __global__ write of \"4\" bytes","count":3},)"
      R"({"kind":"race","access":"unknown","call":-1,"side":"unknown","count":1}],)"
      R"("dropped":5,"problem":"the log ends early"},"own_memory":{"blocks":1,"bytes":2,)"
      R"("left_out_blocks":3,"left_out_bytes":4,"other_blocks":5,"other_bytes":6,)"
      R"("unpoisoned_blocks":7,"unguarded_trials":8},)"
      R"("order":{"candidates":[{"problem":"freed-use","buffer":"tmp","buffer_call":4,)"
      R"("first":{"number":9,"kind":"free","name":"free","call":4,"stream":0},)"
      R"("second":{"number":10,"name":"scan","call":-1,"stream":1,"side":true}}],)"
      R"("directed":true}})");
}

TEST(ObservationJson, ExactFormWithDefaults) {
  EXPECT_EQ(print_observation(Observation{}), R"({"end":"worker-error","wall_us":0})");
  Observation o;
  o.end = End::completed;
  o.fault = Fault{};
  CallObservation call;
  call.buffers = {BufferObservation{}};
  call.references = {ReferenceObservation{}};
  call.launches = {LaunchObservation{}};
  call.scratch = {ScratchObservation{}};
  o.calls = {CallObservation{}, call};
  o.encodes = {EncodeObservation{}};
  o.sanitizer = SanitizerReport{};
  const std::string start =
      R"({"end":"completed","fault":{"code":"","call":-1,"side":"unknown",)"
      R"("access":"unknown"},"calls":[{"call":-1},{"call":-1,"buffers":[{"name":"",)"
      R"("role":"out","digest":0,"numel":0}],"references":[{"tensor":"","numel":0,)"
      R"("mismatches":0,"first_index":0,"got":0.0,"want":0.0,"worst":0.0}],)"
      R"("launches":[{"kernel":"","grid":[1,1,1],"block":[1,1,1]}],"scratch":[{"name":"",)"
      R"("bytes":0,"align":1,"bytes_per_cta":0,"grid":[1,1,1],"num_ctas":1,)"
      R"("need_align":1}]}],"encodes":[{"call":-1,"name":"","code":1,"dim":-1}],"wall_us":0,)"
      R"("sanitizer":{"tool":"none","records":[)";
  EXPECT_EQ(print_observation(o), start + "]}}");
  o.sanitizer->records = {SanitizerRecord{}};
  EXPECT_EQ(print_observation(o),
            start + R"({"kind":"","access":"unknown","call":-1,"side":"unknown","count":1}]}})");
  EXPECT_EQ(*parse_observation(print_observation(o), "trial"), o);
}

TEST(ObservationJson, WhatIsMissingHasItsDefaultAndWhatIsUnknownIsPassedOver) {
  Observation o;
  o.end = End::completed;
  o.calls = {CallObservation{.call = 3, .buffers = {}, .references = {}, .launches = {}}};
  EXPECT_EQ(*parse_observation(R"({"end":"completed","later":{},"calls":[{"call":3}],"wall_us":0})",
                               "trial"),
            o);
}

TEST(ObservationJson, AnErrorSaysWhatIsWrong) {
  const auto error_of = [](std::string_view text) {
    return parse_observation(text, "trial").error().message;
  };
  EXPECT_EQ(error_of(R"({"end":"gone","wall_us":1})"),
            "trial: not an observation: unknown end 'gone'");
  EXPECT_EQ(error_of(R"({"end":"completed","calls":{},"wall_us":1})"),
            "trial: not an observation: a list is missing");
  EXPECT_EQ(error_of(R"({"end":"completed","calls":[7],"wall_us":1})"),
            "trial: not an observation: an object is missing");
  EXPECT_EQ(error_of(R"({"end":"completed","wall_us":-1})"),
            "trial: not an observation: -1 is out of range for its type");
  EXPECT_EQ(error_of(R"({"end":"completed","calls":[{"call":0,"launches":[{"kernel":"k",)"
                     R"("grid":[1,1]}]}],"wall_us":1})"),
            "trial: not an observation: grid needs 3 numbers");
}

}  // namespace
}  // namespace redzone::store
