#include "exec/python_frame.h"

#include <gtest/gtest.h>

namespace redzone::exec {
namespace {

TEST(PythonFrame, IsTheInnermostOneOfTheUser) {
  EXPECT_EQ(python_frame("chatter\nFatal Python error: Segmentation fault\n\n"
                         "Current thread 0x00007f (most recent call first):\n"
                         "  File \"/v/lib/python3.11/site-packages/torch/x.py\", line 7 in memset\n"
                         "  File \"/home/me/my.py\", line 12 in twice\n"
                         "  File \"/home/me/other.py\", line 3 in run\n"),
            "/home/me/my.py:12 in twice");
}

TEST(PythonFrame, IsThatOfAModuleWhereThereIsNoOther) {
  EXPECT_EQ(python_frame("Fatal Python error: Aborted\n\n"
                         "  File \"/usr/lib/python3.11/ctypes.py\", line 7 in memset\n"),
            "/usr/lib/python3.11/ctypes.py:7 in memset");
}

TEST(PythonFrame, IsNoneInOtherOutput) {
  EXPECT_EQ(python_frame(""), "");
  EXPECT_EQ(python_frame("  File \"/home/me/my.py\", line 12 in twice\n"), "");
  EXPECT_EQ(python_frame("Fatal Python error: Aborted\n  File \"/my.py"), "");
}

}  // namespace
}  // namespace redzone::exec
