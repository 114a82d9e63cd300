#include "core/program_origin.h"

#include <gtest/gtest.h>

#include "core/plan_text.h"
#include "core/target_name.h"

#include <rapidcheck/gtest.h>

namespace redzone {
namespace {

ProgramOrigin sample() {
  ProgramOrigin out;
  out.argv = {"python3", "train.py", "--name", "\"ü\"\n", ""};
  out.folder = "/home/x";
  out.environment = {{"TZ", "UTC"}};
  out.settings = "cpu=1";
  out.block = UINT64_MAX;
  out.block_bytes = 4000;
  out.site = "make (train)";
  out.where = {"a"};
  out.allocated = {"b", "c"};
  out.freed = {"d"};
  out.unset = {"MY_SETTING"};
  out.exit_code = 139;
  out.files = {{"/home/x/train.py", 17, "0123456789abcdef"}};
  return out;
}

TEST(ProgramOriginText, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_origin(print_origin(sample()), "here"), sample());
  EXPECT_EQ(print_origin(sample()).find('\n'), std::string::npos);
}

TEST(ProgramOriginText, NothingElseIsRead) {
  const std::string whole = print_origin(sample());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = whole;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1]"), whole.substr(0, whole.size() / 2),
        changed("\"version\":1", "\"version\":2"), changed("\"folder\"", "\"folded\""),
        changed("[\"python3\",\"train.py\"", "[7,\"train.py\""),
        changed("\"block\":18446744073709551615", "\"block\":-1"),
        std::string(R"({"argv":[],"folder":"","environment":[],"settings":"","block":0,)") +
            R"("block_bytes":0,"site":"","where":[],"allocated":[],"freed":[],"version":1})"}) {
    const auto read = parse_origin(text, "here");
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message.starts_with("here: ")) << read.error().message;
  }
}

// A store may be anybody's: what it names is started, or written into a script.
TEST(ProgramOriginText, NoProcessIsStartedSoIsRefused) {
  const auto refused = [](auto change) {
    ProgramOrigin origin = sample();
    change(origin);
    return !parse_origin(print_origin(origin), "here") && problem_of(origin).has_value();
  };
  for (const std::string name : {"", "A=B", "A B", "A;touch x", "1A", "$(id)", "A\nB", "-x"})
    EXPECT_TRUE(refused([&](auto& o) { o.environment[0].name = name; })) << name;
  EXPECT_TRUE(refused([](auto& o) { o.environment[0].value = std::string("a\0b", 3); }));
  EXPECT_TRUE(refused([](auto& o) { o.argv[1] = std::string("a\0b", 3); }));
  EXPECT_TRUE(refused([](auto& o) { o.folder = "-"; }));
  EXPECT_TRUE(refused([](auto& o) { o.folder = "relative"; }));
  EXPECT_TRUE(refused([](auto& o) { o.unset[0] = "$(id)"; }));
  EXPECT_TRUE(refused([](auto& o) { o.files[0].path = std::string("/a\0b", 4); }));
  EXPECT_FALSE(refused([](auto& o) { o.folder = ""; })) << "of a folder that was gone";
  EXPECT_FALSE(refused([](auto& o) { o.environment[0].name = "_a1"; }));
}

TEST(ProgramOriginText, ThePreloadIsNotTaken) {
  ProgramOrigin origin = sample();
  origin.environment.push_back({"LD_PRELOAD", "/tmp/evil.so"});
  EXPECT_EQ(parse_origin(print_origin(origin), "here"), sample());
}

TEST(ProgramOriginText, WhatCannotBeStoredIsSaid) {
  EXPECT_EQ(problem_of(sample()), std::nullopt);
  const auto has_problem = [](auto change) {
    ProgramOrigin origin = sample();
    change(origin);
    return problem_of(origin).has_value();
  };
  EXPECT_TRUE(has_problem([](auto& o) { o.argv.clear(); }));
  EXPECT_TRUE(has_problem([](auto& o) { o.argv[1] = "\xff"; }));
  EXPECT_TRUE(has_problem([](auto& o) { o.folder = "/\xc0\xaf"; }));
  EXPECT_TRUE(has_problem([](auto& o) { o.environment[0].value = "\x80"; }));
  EXPECT_TRUE(has_problem([](auto& o) { o.where[0] = "\x80"; }));
  EXPECT_TRUE(has_problem([](auto& o) { o.argv[1] = std::string(kMostOriginBytes, 'x'); }));
}

TEST(ProgramTarget, NamesTheProgramAndTheScriptOfAnInterpreter) {
  EXPECT_EQ(target_of_program({"/usr/bin/Train-It", "data"}), "program.train_it");
  EXPECT_EQ(target_of_program({"python3.11", "-u", "/x/train.py", "--lr"}),
            "program.python3.11.train.py");
  EXPECT_EQ(target_of_program({"python3", "-m", "pytest", "tests"}), "program.python3.pytest");
  EXPECT_EQ(target_of_program({"sh", "-c", "exit 1"}), "program.sh");
  EXPECT_EQ(target_of_program({"bash"}), "program.bash");
  EXPECT_EQ(target_of_program({"shell", "x"}), "program.shell") << "no interpreter";
  EXPECT_EQ(target_of_program({"bash", "-eo", "pipefail", "--rcfile", "rc", "run.sh"}),
            "program.bash.run.sh");
  EXPECT_EQ(target_of_program({"python3", "-X", "dev", "-Wignore", "-W", "error", "a.py"}),
            "program.python3.a.py");
  EXPECT_EQ(target_of_program({"python3", "-Im", "pkg.tool"}), "program.python3.pkg.tool");
  EXPECT_EQ(target_of_program({"python3", "-mpkg"}), "program.python3.pkg");
  EXPECT_EQ(target_of_program({"perl", "-w", "-I", "lib", "-Mstrict", "x.pl"}),
            "program.perl.x.pl");
  EXPECT_EQ(target_of_program({"ruby", "-r", "json", "x.rb"}), "program.ruby.x.rb");
  EXPECT_EQ(target_of_program({"node", "--require", "./a.js", "x.js"}), "program.node.x.js");
  EXPECT_EQ(target_of_program({"torchrun", "--nproc-per-node", "2", "/x/train.py"}),
            "program.torchrun.train.py");
}

TEST(ProgramTarget, NeverHoldsCodeOfTheCommandLine) {
  for (const std::vector<std::string>& argv :
       std::vector<std::vector<std::string>>{{"sh", "-ec", "secret"},
                                             {"bash", "-lc", "secret"},
                                             {"bash", "-o", "pipefail", "-c", "secret"},
                                             {"zsh", "-fc", "secret"},
                                             {"dash", "-cx", "secret"},
                                             {"bash", "-s", "secret"},
                                             {"python3", "-Ic", "secret"},
                                             {"python3", "-X", "dev", "-c", "secret"},
                                             {"python3", "-csecret"},
                                             {"python3", "-", "secret"},
                                             {"perl", "-e", "secret"},
                                             {"perl", "-wnE", "secret"},
                                             {"ruby", "-ne", "secret"},
                                             {"node", "-e", "secret"},
                                             {"node", "-pe", "secret"},
                                             {"node", "--eval=secret"},
                                             {"node", "--print", "secret"},
                                             {"pytest", "-k", "secret"}})
    EXPECT_EQ(target_of_program(argv).find("secret"), std::string::npos) << argv[1];
}

TEST(ProgramTarget, LongNamesThatBeginAlikeDiffer) {
  const std::string common(120, 'x');
  const auto a = target_of_program({common + "a"}), b = target_of_program({common + "b"});
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), 100u);
  EXPECT_TRUE(is_target_name(a));
}

RC_GTEST_PROP(ProgramTarget, IsANameOfATarget, (const std::vector<std::string>& argv)) {
  RC_ASSERT(is_target_name(target_of_program(argv)));
}

TEST(PlanWithoutCalls, IsAPlan) {
  const Plan plan = plan_without_calls("program.x");
  EXPECT_EQ(call_count(plan), 0);
  EXPECT_EQ(parse_plan(print_plan(plan), "here"), plan);
}

}  // namespace
}  // namespace redzone
