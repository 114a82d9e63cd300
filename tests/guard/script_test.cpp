#include "guard/script.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <cstdio>

#include "guard/sample.h"
#include "guard/stored_finding.h"

namespace redzone::guard {
namespace {

// What a shell makes of the word.
std::string printed(const std::string& word) {
  const std::string command = "printf %s " + word;
  FILE* const shell = ::popen(command.c_str(), "r");
  std::string out;
  char part[256];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, shell)) > 0;) out.append(part, n);
  ::pclose(shell);
  return out;
}

TEST(ShellWord, YieldsItsBytes) {
  for (const std::string text : {"plain", "", "two words", "it's", "$HOME `id` $(id)", "a\nb", "\\",
                                 "\xff\x01", "-n", "~", "*", "a=b", "#x"})
    EXPECT_EQ(printed(sh_word(text)), text);
  EXPECT_EQ(sh_word("plain/word.py"), "plain/word.py");
}

RC_GTEST_PROP(ShellWord, OfAnyBytesYieldsThem, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(1, 256), [](int c) { return static_cast<char>(c); }));
  RC_ASSERT(printed(sh_word(text)) == text);
}

TEST(ProgramScript, SetsWhatWasStoredAndUnsetsTheRest) {
  const ProgramRun run = testing::run_with({testing::sample_finding()});
  const std::string script = script_of(stored_finding(run, run.findings()[0]), "--cpu");
  EXPECT_TRUE(script.starts_with("#!/bin/sh\n# illegal-access: ")) << script;
  for (const char* line :
       {"\ncd /home/x || exit 125\n", "\nexport TZ=UTC\n", "\nunset CUDA_VISIBLE_DEVICES\n",
        "guard --no-store --cpu -- ./train --fast\n"})
    EXPECT_NE(script.find(line), std::string::npos) << line << script;
}

}  // namespace
}  // namespace redzone::guard
