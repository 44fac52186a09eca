#include "facebench/io/text.h"

#include <gtest/gtest.h>

#include "io/helpers.h"

namespace facebench {
namespace {

std::vector<std::string> lines_of(const std::string& bytes) {
  const TextFile file(bytes, "t");
  std::vector<std::string> result;
  for (const TextLine& line : file.lines()) result.emplace_back(line.text);
  return result;
}

CsvTable csv(const std::string& bytes, const CsvOptions& options = {}) {
  return CsvTable(bytes, "t.csv", options);
}

using Texts = std::vector<std::string>;
using Views = std::vector<std::string_view>;

}  // namespace

TEST(Text, Lines) {
  EXPECT_EQ(lines_of(""), Texts{});
  EXPECT_EQ(lines_of("a"), Texts{"a"});
  EXPECT_EQ(lines_of("a\n"), Texts{"a"});
  EXPECT_EQ(lines_of("\n"), Texts{""});
  EXPECT_EQ(lines_of("a\r\n\r\nb\nc"), (Texts{"a", "", "b", "c"}));
  EXPECT_EQ(lines_of("\xEF\xBB\xBFx\n"), Texts{"x"});
  const TextFile file(
      "\xEF\xBB\xBF"
      "a\nb\r\n",
      "t");
  EXPECT_EQ(file.lines()[1].number, 2);
  EXPECT_EQ(file.bytes().size(), 8u);
}

TEST(Text, Refused) {
  EXPECT_ERROR(TextFile(std::string("a\nb\0c", 5), "t"), "t:2: a NUL byte");
  EXPECT_ERROR(TextFile("a\rb\rc", "t"), "t:1: a carriage return inside a line");
  EXPECT_ERROR(TextFile("abc\r", "t"), "t:1: a carriage return");
  EXPECT_ERROR(TextFile("a\nabcdef\n", "t", 5), "t:2: the line has 6 bytes");
  EXPECT_EQ(TextFile("abcde\r\n", "t", 5).lines().size(), 1u);
}

TEST(Text, Splitting) {
  EXPECT_EQ(split_tabs(""), Views{""});
  EXPECT_EQ(split_tabs("a\t\tb c\t"), (Views{"a", "", "b c", ""}));
  EXPECT_EQ(split_whitespace(" \t"), Views{});
  EXPECT_EQ(split_whitespace("  a \tb  c"), (Views{"a", "b", "c"}));
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Text, Numbers) {
  const Place place{"list.txt", 7};
  EXPECT_EQ(parse_int("-12", place), -12);
  EXPECT_EQ(parse_int("9223372036854775807", place), INT64_MAX);
  EXPECT_EQ(parse_double("1e-3", place), 0.001);
  EXPECT_EQ(parse_double("-7", place), -7.0);
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "0x10", "9223372036854775808", "1,5", "abc"})
    EXPECT_ERROR(parse_int(bad, place, "fold"), "list.txt:7: fold must be a whole number, got '");
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0.0", "0x10", "inf", "nan", "1e999", "1,5"})
    EXPECT_ERROR(parse_double(bad, place), "list.txt:7: value must be a number, got '");
  EXPECT_ERROR(parse_int("\x1b[31m", place), "got '\\x1b[31m'");  // no terminal codes in messages
}

TEST(Text, Utf8) {
  EXPECT_TRUE(is_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xE2\x82", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xFF"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Csv, Fields) {
  const CsvTable t =
      csv("\xEF\xBB\xBFid,name,x\r\n1,\"a, \"\"b\"\"\",\n\n2,\"two\r\nlines\",2.5\r\n");
  EXPECT_EQ(t.columns(), (Texts{"id", "name", "x"}));
  ASSERT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.cell(0, t.column("name")), "a, \"b\"");
  EXPECT_EQ(t.cell(1, 1), "two\r\nlines");
  EXPECT_EQ(t.integer(1, 0), 2);
  EXPECT_EQ(t.cell(0, 2), "");
  EXPECT_EQ(t.number(1, 2), 2.5);
  EXPECT_EQ(t.place(0).line, 2);
  EXPECT_EQ(t.place(1).line, 4);
  EXPECT_ERROR(t.number(1, 1), "t.csv:4: name must be a number");
  EXPECT_ERROR(t.column("nam"),
               "t.csv: unknown column 'nam'; did you mean 'name'? (known: id, name, x)");
  EXPECT_THROW(t.cell(2, 0), std::out_of_range);
  EXPECT_TRUE(t.has_column("x"));
  EXPECT_FALSE(t.has_column("y"));
}

TEST(Csv, NoHeaderAndOtherSeparators) {
  const CsvTable t = csv("1;2\n3;4", {.separator = ';', .header = false});
  EXPECT_EQ(t.columns(), (Texts{"0", "1"}));
  EXPECT_EQ(t.integer(1, 1), 4);
  EXPECT_EQ(csv("a,b\n").rows(), 0u);
  EXPECT_EQ(csv("", {.header = false}).rows(), 0u);
}

TEST(Csv, Refused) {
  EXPECT_ERROR(csv(""), "is empty");
  EXPECT_ERROR(csv("a,b\n1\n"), "t.csv:2: 1 fields, but the first line has 2");
  EXPECT_ERROR(csv("a,b\n1,2,3\n"), "t.csv:2: 3 fields");
  EXPECT_ERROR(csv("a\n\"open\n\nmore"), "t.csv:2: a quoted field that begins here has no end");
  EXPECT_ERROR(csv("a\n\"x\"y\n"), "t.csv:2: text follows the closing quote");
  EXPECT_ERROR(csv("a\nx\"y\n"), "t.csv:2: a double quote inside a field");
  EXPECT_ERROR(csv("a\nx\ry\n"), "t.csv:2: a carriage return");
  EXPECT_ERROR(csv(std::string("a\nx\0\n", 5)), "t.csv:2: a NUL byte");
  EXPECT_ERROR(csv("a,a\n1,2\n").column("a"), "two columns are called 'a'");
}

TEST(Csv, RecordsReadBack) {
  const Texts fields = {"plain", "", "with, comma", "\"quoted\"", "two\nlines", " blanks "};
  EXPECT_EQ(csv_record({"a", "b,c", "d\"e"}), "a,\"b,c\",\"d\"\"e\"\n");
  const CsvTable t = csv(csv_record({"1", "2", "3", "4", "5", "6"}) + csv_record(fields));
  ASSERT_EQ(t.rows(), 1u);
  for (std::size_t i = 0; i < fields.size(); ++i) EXPECT_EQ(t.cell(0, i), fields[i]);
  EXPECT_EQ(csv(csv_record({"x"}) + csv_record({""})).rows(), 1u);
  const std::vector<std::string> marked{"\xEF\xBB\xBFx", "y"};
  EXPECT_EQ(csv(csv_record(marked) + csv_record({"1", "2"})).columns(), marked);
}

// A table cut between two rows is a table, so every cut is an Error or a beginning of the truth.
TEST(Csv, CutAndChanged) {
  const std::string bytes = "id,name\r\n1,\"a \"\"b\"\"\"\r\n2,c\r\n";
  const CsvTable whole = csv(bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    try {
      const CsvTable cut = csv(bytes.substr(0, n));
      for (std::size_t row = 0; row + 1 < cut.rows(); ++row)
        for (std::size_t column = 0; column < 2; ++column)
          EXPECT_EQ(cut.cell(row, column), whole.cell(row, column)) << n;
    } catch (const Error&) {
    }
  }
  expect_no_change_crashes(bytes, [](const std::string& text) { csv(text); });
}

TEST(Csv, RunsOfBlanksSeparate) {
  const CsvTable t("a  b\n 1\t\t2 \n\n \n\"x y\"\r\n", "t.txt", {kBlanks, true});
  ASSERT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.cell(0, 1), "2");
  EXPECT_EQ(t.cell(1, 0), "\"x");  // quotes mean nothing
  EXPECT_EQ(t.place(1).line, 5);
  EXPECT_ERROR(CsvTable("a b\n1\n", "t.txt", {kBlanks, true}), "t.txt:2: 1 fields");
  EXPECT_ERROR(CsvTable("a b\n1 2\r3\n", "t.txt", {kBlanks, true}), "t.txt:2: a carriage return");
}

}  // namespace facebench
