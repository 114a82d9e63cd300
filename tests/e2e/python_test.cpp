// Files of Python targets, as a user runs them. Plain Python: what torch brings is tested where
// there is one.
#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "e2e/cli.h"

namespace redzone::e2e {
namespace {

constexpr const char* kTail = R"py(import redzone as rz

N = rz.dim("N", 1, 512)

def double(x):
    return [2 * v for v in x]

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N), reference=double)
def tail(x, y):
    for i in range(len(x) // 8 * 8):
        y[i] = x[i] * 2

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N), reference=double)
def right(x, y):
    for i in range(len(x)):
        y[i] = x[i] * 2
)py";

TEST(PythonFile, ABugInItIsFoundReducedReplayedAndBisected) {
  const TempFolder folder;
  folder.write("my.py", kTail);
  const Ran ran = redzone(folder, {"run", "my.py", "--device", "host", "--seed", "1", "--plans",
                                   "60", "--db", "x.db", "--python", PYTHON, "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json findings = ran.json()["findings"];
  ASSERT_EQ(findings.size(), 1u) << ran;
  const Json& finding = findings[0];
  EXPECT_EQ(finding["signature"]["text"], "uninitialized: y (my.tail)");
  EXPECT_EQ(finding["minimal"], true);
  EXPECT_EQ(finding["environment"]["origin"]["source"], "python");
  EXPECT_EQ(finding["environment"]["origin"]["path"], folder / "my.py");
  const auto plan = parse_plan(finding["plan"].get<std::string>());
  ASSERT_TRUE(plan);
  ASSERT_EQ(calls_of(*plan).size(), 1u);
  EXPECT_EQ(get(calls_of(*plan)[0]->call.dims, "N"), 1);
  const auto replay = finding["replay"].get<std::string>();
  EXPECT_NE(replay.find("--python-file " + (folder / "my.py")), std::string::npos) << replay;
  EXPECT_NE(replay.find("--python "), std::string::npos) << replay;

  const Arguments file{"--python-file", "my.py", "--python", PYTHON, "--db", "x.db"};
  const auto with_file = [&](Arguments words) {
    words.insert(words.end(), file.begin(), file.end());
    return redzone(folder, words);
  };
  EXPECT_EQ(with_file({"replay", "1"}).exit, 1);
  const Ran bisected = with_file({"bisect", "1"});
  EXPECT_EQ(bisected.exit, 1) << bisected;
  EXPECT_NE(bisected.out.find("necessary"), std::string::npos) << bisected;

  const Ran shown = with_file({"show", "1", "--json"});
  EXPECT_EQ(shown.exit, 0) << shown;
  const Json tensors = shown.json()["tensors"];
  ASSERT_EQ(tensors.size(), 2u) << shown;
  EXPECT_EQ(tensors[1],
            Json::parse(R"({"call": 1, "tensor": "y", "role": "out", "dtype": "f32", "shape": [1],
                                        "strides": [1], "offset_elems": 0, "storage_bytes": 4})"));

  const Ran without = redzone(folder, {"replay", "1", "--db", "x.db", "--device", "host"});
  EXPECT_EQ(without.exit, 2) << without;
  EXPECT_NE(without.err.find("it came from the Python file " + (folder / "my.py")),
            std::string::npos)
      << without;

  // Another text of the file is said to be one.
  folder.write("my.py", std::string(kTail) + "\n# changed\n");
  const Ran changed = with_file({"replay", "1"});
  EXPECT_EQ(changed.exit, 1) << changed;
  EXPECT_NE(changed.err.find("but finding 1 was found with the code"), std::string::npos)
      << changed;

  const Ran exported = with_file({"export", "1", "--standalone", "--to", "out"});
  EXPECT_EQ(exported.exit, 0) << exported;
  EXPECT_TRUE(exported.out.ends_with(".py\n")) << exported;
}

TEST(PythonFile, AFaultNamesTheLine) {
  const TempFolder folder;
  folder.write("over.py", R"py(import ctypes
import redzone as rz

N = rz.dim("N", 1, 64)

@rz.target(x=rz.In("f32", N), y=rz.Out("f32", N), reference=lambda x: x.tolist())
def over(x, y):
    y[:] = x
    ctypes.memset(y.address + 4 * len(y), 0, 4)
)py");
  const Ran ran = redzone(folder, {"run", "over.py", "--device", "host", "--seed", "1", "--plans",
                                   "5", "--db", "x.db", "--python", PYTHON, "--json"});
  ASSERT_EQ(ran.exit, 1) << ran;
  const Json finding = ran.json()["findings"].at(0);
  EXPECT_EQ(finding["signature"]["text"], "illegal-access: write after y (over.over)");
  EXPECT_EQ(finding["fault_detail"], "SIGSEGV: " + (folder / "over.py") + ":9 in over") << ran;
}

TEST(PythonFile, ItsTargetsAreListedAndNamed) {
  const TempFolder folder;
  folder.write("my.py", kTail);
  const Ran all = redzone(folder, {"targets", "my.py", "--python", PYTHON, "--json"});
  ASSERT_EQ(all.exit, 0) << all;
  EXPECT_NE(all.out.find("my.right"), std::string::npos) << all;
  EXPECT_EQ(all.out.find("puzzle."), std::string::npos) << all;
  const Ran right = redzone(folder, {"run", "my.right", "my.py", "--device", "host", "--plans",
                                     "20", "--db", "x.db", "--python", PYTHON});
  EXPECT_EQ(right.exit, 0) << right;
  EXPECT_NE(right.out.find("20 pass"), std::string::npos) << right;
}

TEST(PythonFile, WhatDoesNotApplyToItIsSaidOnce) {
  const TempFolder folder;
  folder.write("my.py", kTail);
  const Ran dry =
      redzone(folder, {"run", "my.py", "--device", "dry-run", "--db", "x.db", "--python", PYTHON});
  EXPECT_EQ(dry.exit, 4) << dry;
  EXPECT_NE(dry.err.find("not applicable: my.tail: it is Python code"), std::string::npos) << dry;
  const Ran ran = redzone(folder, {"run", "my.right", "--python-file", "my.py", "--device", "host",
                                   "--plans", "5", "--db", "x.db", "--python", PYTHON});
  EXPECT_EQ(ran.exit, 0) << ran;
  EXPECT_NE(ran.err.find("not applicable: launch modes, schedules, streams, graphs"),
            std::string::npos)
      << ran;
  const Ran tool = redzone(
      folder, {"run", "my.py", "--device", "host", "--sanitizer", "memcheck", "--python", PYTHON});
  EXPECT_EQ(tool.exit, 3) << tool;
}

TEST(PythonFile, WhatIsWrongWithItIsOneLine) {
  struct Row {
    const char* text;
    const char* said;
    int exit;
  };
  const Row rows[] = {
      {"import sys\nsys.exit(7)\n", "my.py", 2},
      {"x = = 1\n", "my.py:1", 2},
      {"import redzone\n", "my.py", 2},
      {"import no_such_module_at_all\n", "no_such_module_at_all", 3},
      {"import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "killed by SIGSEGV", 2},
      {"raise ValueError('two\\nlines')\n", "my.py:1", 2},
  };
  for (const auto& row : rows) {
    const TempFolder folder;
    folder.write("my.py", row.text);
    const Ran ran = redzone(folder, {"run", "my.py", "--device", "host", "--python", PYTHON});
    EXPECT_EQ(ran.exit, row.exit) << row.text << ran;
    EXPECT_NE(ran.err.find(row.said), std::string::npos) << row.text << ran;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << row.text << ran;
  }
  const TempFolder folder;
  const Ran missing = redzone(folder, {"run", "no.py", "--device", "host", "--python", PYTHON});
  EXPECT_EQ(missing.exit, 2) << missing;
  EXPECT_EQ(missing.err, "redzone: no.py: no such file\n");
  const Ran python = redzone(folder, {"targets", "no.py", "--python", "/no/python"});
  EXPECT_EQ(python.exit, 2) << python;
  EXPECT_EQ(python.err, "redzone: --python /no/python: no such program\n");
}

}  // namespace
}  // namespace redzone::e2e
