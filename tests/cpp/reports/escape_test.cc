#include "facebench/reports/escape.h"

#include <gtest/gtest.h>

namespace facebench {

TEST(Escape, Markdown) {
  EXPECT_EQ(escape_markdown("a`<img src=x onerror=y>"), "a\\`\\<img src=x onerror=y\\>");
  EXPECT_EQ(escape_markdown("[x](javascript:y) | [a][b] [c]: d"),
            "[x\\](javascript:y) \\| [a\\][b] [c\\]: d");
  EXPECT_EQ(escape_markdown("&lt;b&#62; R&D & Co"), "\\&lt;b\\&#62; R\\&D & Co");
  EXPECT_EQ(escape_markdown("a\n# b\r\n\x1b[2J"), "a # b  \\\\x1b[2J");
  // Intervals stay readable as they are.
  EXPECT_EQ(escape_markdown("99.37 [99.10, 99.60] (3 at FAR)"), "99.37 [99.10, 99.60] (3 at FAR)");
}

TEST(Escape, Latex) {
  EXPECT_EQ(escape_latex("\\input{/etc/passwd}%\n#$&_~^"),
            "\\textbackslash{}input\\{/etc/passwd\\}\\% \\#\\$\\&\\_\\textasciitilde{}"
            "\\textasciicircum{}");
}

TEST(Escape, Spreadsheets) {
  EXPECT_EQ(spreadsheet_record({"=cmd|'/C calc'!A0", "+1+1", "@x", "-2+3", "\t=1"}),
            "'=cmd|'/C calc'!A0,'+1+1,'@x,'-2+3,' =1\n");
  EXPECT_EQ(spreadsheet_record({"-0.25", "1e-3", "a=b", ""}), "-0.25,1e-3,a=b,\n");
}

}  // namespace facebench
