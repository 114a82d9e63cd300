#include "guard/stacks.h"

#include <gtest/gtest.h>

#include "guard/program_run.h"

namespace redzone::guard {
namespace {

using Stack = std::vector<Frame>;

// As stacks of programs on a GPU are.
const Frame kInternal{1, "/tmp/prog", 1,
                      "libcudart_static_5382377d5c772c9d197c0cda9fd9742ee6ad893c"};
const Frame kDeeper{2, "/tmp/prog", 2, "libcudart_static_f74e2f2bcf2cf49bd1a61332e1d15bd1e748f9cf"};
const Frame kPublic{3, "/tmp/prog", 3, "cudaMalloc"};
const Frame kTemplate{4, "/tmp/prog", 4, "cudaError cudaMalloc<float>(float**, unsigned long)"};
const Frame kMain{5, "/tmp/prog", 5, "main"};
const Frame kC{6, "/usr/lib/libc.so.6", 6, "__libc_start_main"};
const Frame kSharedInternal{7, "/cuda/lib/libcudart.so.13.0.96", 7, ""};
const Frame kSharedPublic{8, "/cuda/lib/libcudart.so.13.0.96", 8, "cudaMalloc"};
const Frame kDriver{9, "/usr/lib/libcuda.so.580.159.04", 9, ""};

std::vector<std::uint64_t> numbers(std::span<const Frame> frames) {
  std::vector<std::uint64_t> out;
  out.reserve(frames.size());
  for (const Frame& frame : frames) out.push_back(frame.address);
  return out;
}

using Numbers = std::vector<std::uint64_t>;

TEST(ShownFrames, BeginWithTheFunctionThatTheProgramCalled) {
  EXPECT_EQ(numbers(shown({kInternal, kDeeper, kPublic, kTemplate, kMain, kC})),
            (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(numbers(shown({kSharedInternal, kSharedPublic, kMain, kC})), (Numbers{8, 5, 6}));
  EXPECT_EQ(numbers(shown({kDriver, kSharedInternal, kSharedPublic, kMain})), (Numbers{8, 5}));
}

TEST(ShownFrames, AreAllWhereTheRuntimeIsNotTheInnermost) {
  EXPECT_EQ(numbers(shown({kMain, kC})), (Numbers{5, 6}));
  EXPECT_EQ(numbers(shown({kMain, kInternal, kPublic})), (Numbers{5, 1, 3})) << "a callback";
  EXPECT_TRUE(shown({}).empty());
}

TEST(ShownFrames, AreAllWhereNothingElseIsKnown) {
  EXPECT_EQ(numbers(shown({kInternal, kDeeper})), (Numbers{1, 2}));
  EXPECT_EQ(numbers(shown({kSharedInternal, kSharedPublic})), (Numbers{7, 8}));
}

TEST(ShownFrames, KeepAFunctionThatHasOnlyANameLikeTheRuntimes) {
  Frame own = kMain;
  own.function = "cudaBuffer::grow(int)";
  EXPECT_EQ(numbers(shown({kInternal, own, kC})), (Numbers{1, 5, 6}))
      << "the runtime's functions are those of C";
  own.function = "cuda_grow";
  EXPECT_EQ(numbers(shown({own, kC})), (Numbers{5, 6})) << "no frame of the runtime is inside it";
}

std::string site_of(const Stack& stack) {
  Finding finding;
  finding.allocated = stack;
  return allocation_site(finding);
}

TEST(AllocationSite, IsTheCallerOfTheRuntime) {
  EXPECT_EQ(site_of({kInternal, kDeeper, kPublic, kTemplate, kMain, kC}), "main (prog)");
  EXPECT_EQ(site_of({kInternal, kDeeper, kPublic, kMain, kC}), "main (prog)");
  EXPECT_EQ(site_of({kSharedInternal, kSharedPublic, kMain, kC}), "main (prog)");
  Frame wheel = kSharedPublic;
  wheel.module = "/torch/lib/libcudart-9335f6a2.so.11.0";
  EXPECT_EQ(site_of({wheel, kMain}), "main (prog)");
  EXPECT_EQ(site_of({kC, kMain}), "main (prog)");
  EXPECT_EQ(site_of({kC}), "__libc_start_main (libc.so.6)") << "nothing else is known";
  EXPECT_EQ(site_of({}), "");
}

TEST(AllocationSite, HasTheCallersOfAFunctionThatAllocatesForMany) {
  const Frame make{10, "/tmp/prog", 10, "make()"}, deeper{11, "/tmp/prog", 11, "make()"};
  const Frame load{12, "/tmp/prog", 12, "load()"}, run{13, "/tmp/prog", 13, "run()"};
  const Frame start{14, "/tmp/prog", 14, "_start"};
  EXPECT_EQ(site_of({kC, make, load, kC, kMain, kC, start}),
            "make() (prog) from load() (prog) from main (prog)");
  EXPECT_EQ(site_of({make, deeper, load}), "make() (prog) from load() (prog)") << "recursion";
  EXPECT_EQ(site_of({make, load, run, kMain}),
            "make() (prog) from load() (prog) from run() (prog)");
  EXPECT_EQ(site_of({kMain, kC, start}), "main (prog)");
}

TEST(AllocationSite, IsOfTheLinesOfAPythonProgram) {
  Finding finding;
  finding.allocated = {kMain};
  finding.python_allocated = {{"/usr/lib/python3/dist-packages/t.py", "empty", 1},
                              {"/w/model.py", "forward", 7},
                              {"/usr/lib/python3/dist-packages/t.py", "call", 2},
                              {"/w/train.py", "step", 9}};
  EXPECT_EQ(allocation_site(finding), "forward (model.py) from step (train.py)");
}

}  // namespace
}  // namespace redzone::guard
