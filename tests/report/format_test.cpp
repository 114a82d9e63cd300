#include "report/format.h"

#include <gtest/gtest.h>

namespace redzone::report {
namespace {

TEST(Format, PrintableKeepsTextAndDisarmsTheRest) {
  EXPECT_EQ(printable("plain 'text' \\ äß"), "plain 'text' \\ äß");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\x0d");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\u009b1m");
  EXPECT_EQ(printable("\xc2"), "\xef\xbf\xbd");
  EXPECT_EQ(printable("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
}

TEST(Format, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(Format, Rate) {
  EXPECT_EQ(rate(0), "0");
  EXPECT_EQ(rate(0.01234), "0.0123");
  EXPECT_EQ(rate(1), "1.00");
  EXPECT_EQ(rate(45.67), "45.7");
  EXPECT_EQ(rate(99.94), "99.9");
  EXPECT_EQ(rate(99.96), "100");
  EXPECT_EQ(rate(12345.6), "12,346");
}

TEST(Format, RatesNeedTime) {
  EXPECT_EQ(per_second(10, 4), 2.5);
  EXPECT_EQ(per_second(10, 0), 0);
}

TEST(Format, ClockTime) {
  EXPECT_EQ(clock_time(-3), "0:00");
  EXPECT_EQ(clock_time(7.9), "0:07");
  EXPECT_EQ(clock_time(754), "12:34");
  EXPECT_EQ(clock_time(3723), "1:02:03");
}

TEST(Format, Counted) {
  EXPECT_EQ(counted(0, "call"), "0 calls");
  EXPECT_EQ(counted(1, "call"), "1 call");
  EXPECT_EQ(counted(1000, "call"), "1,000 calls");
}

TEST(Format, TablesAlignByWhatIsSeen) {
  Table table({{"id", Table::Align::right}, {"name"}, {"note"}});
  EXPECT_TRUE(table.empty());
  table.add({"1", "äöü", "x"});
  table.add({"100", "a\nb", ""});
  EXPECT_EQ(table.text("> "),
            ">  id  name  note\n"
            ">   1  äöü   x\n"
            "> 100  a\\nb\n");
}

}  // namespace
}  // namespace redzone::report
