#include "core/terminal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdio>

#include "core/temporary_folder.h"
#include "core/utf8.h"

namespace redzone {
namespace {

TEST(TerminalText, KeepsLinesAndDisarmsTheRest) {
  EXPECT_EQ(terminal_text("plain 'text' \\ äß\n\tx"), "plain 'text' \\ äß\n\tx");
  EXPECT_EQ(terminal_text("\x1b]0;title\x07\r"), "\\x1b]0;title\\x07\\x0d");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "2J\x7f"),
            "\\u009b2J\\u007f");
  EXPECT_EQ(terminal_text("\xe2\x80\xae"), "\\u202e");  // right-to-left override
  EXPECT_EQ(terminal_text("a\xff\x80"), "a\xef\xbf\xbd\xef\xbf\xbd");
}

std::string any_bytes() {
  return *rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(1, 256), [](int c) { return static_cast<char>(c); }));
}

RC_GTEST_PROP(TerminalText, NothingSteersATerminal, ()) {
  const std::string text = terminal_text(any_bytes());
  RC_ASSERT(text == valid_utf8(text));
  for (std::string_view rest = text; !rest.empty();) {
    const auto c = first_character(rest);
    RC_ASSERT(*c.code == '\n' || *c.code == '\t' || (*c.code >= 0x20 && *c.code < 0x7f) ||
              *c.code >= 0xa0);
    rest.remove_prefix(c.bytes);
  }
}

TEST(ShellQuoted, IsPlainWhereItCanBe) {
  EXPECT_EQ(shell_quoted("out/a.db"), "out/a.db");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("my store's.db"), "'my store'\\''s.db'");
  EXPECT_EQ(shell_quoted("a\x1b[2J'\\\n"), "$'a\\033[2J\\'\\\\\\012'");
}

std::string said_by_shell(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::array<char, 4096> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe))
    out.append(chunk.data(), n);
  ::pclose(pipe);
  return out;
}

// A shell reads the quoted word as the original bytes, and its display in a terminal is harmless.
TEST(ShellQuoted, AShellReadsTheSameBytes) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  const TemporaryFolder folder = TemporaryFolder::create("terminal").value();
  for (const std::string& word :
       {all, std::string("$(touch x) `y` \"z\""), std::string("\\'"), std::string("a\n'b")}) {
    const std::string quoted = shell_quoted(word);
    EXPECT_EQ(printable(quoted), quoted);
    // A script file keeps the quoted word away from sh, which may not support $'...'.
    const std::string script = (folder.path() / "quoted_word.sh").string();
    FILE* file = std::fopen(script.c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fprintf(file, "printf %%s %s\n", quoted.c_str());
    std::fclose(file);
    EXPECT_EQ(said_by_shell("LC_ALL=C bash " + script), word);
  }
}

}  // namespace
}  // namespace redzone
