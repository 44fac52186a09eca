#include "facebench/io/mat5.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "io/helpers.h"

namespace facebench {
namespace {

std::map<std::string, MatArray> parsed(const std::string& bytes) {
  return parse_mat5(std::as_bytes(std::span(bytes)), "t.mat");
}

MatArray sample() {
  MatArray numbers;
  numbers.kind = MatArray::Kind::numbers;
  numbers.shape = {2, 3};
  numbers.numbers = {1, 2, 3, 4, 5, 0.5};
  MatArray record;
  record.kind = MatArray::Kind::structure;
  record.shape = {1, 2};
  record.fields = {"name", "longer_name"};
  record.cells = {mat_text("a"), numbers, mat_text("Zoë \xF0\x9F\x98\x80"), mat_text("")};
  return mat_cells({2, 1}, {record, mat_text("second")});
}

TEST(Mat5, StructuresCellsTextsAndNumbersComeBack) {
  const auto variables = parsed(mat5_bytes({{"v", sample()}, {"w", mat_text("x")}}));
  EXPECT_EQ(variables.size(), 2u);
  const MatArray& v = variables.at("v");
  EXPECT_EQ(v.shape, (std::vector<std::int64_t>{2, 1}));
  const MatArray& record = v.cells.at(0);
  EXPECT_EQ(record.kind, MatArray::Kind::structure);
  EXPECT_EQ(record.fields, (std::vector<std::string>{"name", "longer_name"}));
  EXPECT_EQ(record.cells.at(0).text, "a");
  EXPECT_EQ(record.cells.at(1).numbers, (std::vector<double>{1, 2, 3, 4, 5, 0.5}));
  EXPECT_EQ(record.cells.at(1).shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(record.cells.at(2).text, "Zoë \xF0\x9F\x98\x80");
  EXPECT_EQ(record.cells.at(3).text, "");
  EXPECT_EQ(v.cells.at(1).text, "second");
}

TEST(Mat5, DamagedFilesAreErrors) {
  const std::string bytes = mat5_bytes({{"v", sample()}});
  expect_every_cut_refused(bytes, parsed);
  expect_no_change_crashes(bytes, parsed);
}

TEST(Mat5, WhatCannotBeWrittenIsRefused) {
  MatArray wrong = mat_text("abc");
  wrong.shape = {1, 2};
  EXPECT_THROW(mat5_bytes({{"v", wrong}}), std::invalid_argument);
  EXPECT_THROW(mat5_bytes({{"v", mat_cells({2, 2}, {mat_text("x")})}}), std::invalid_argument);
  EXPECT_THROW(mat5_bytes({{"v", MatArray{}}}), std::invalid_argument);
}

// An empty cell is eight bytes in the file and far more in memory.
TEST(Mat5, MoreCellsThanTheBudgetAreRefused) {
  const auto word = [](std::uint32_t v) { return std::string(reinterpret_cast<char*>(&v), 4); };
  const std::uint32_t cells = 2'000'001;
  std::string body = word(6) + word(8) + word(1) + word(0)           // flags: a cell array
                     + word(5) + word(8) + word(1) + word(cells)     // 1 x cells
                     + word(1) + word(1) + "v" + std::string(7, 0);  // its name
  for (std::uint32_t i = 0; i < cells; ++i) body += word(14) + word(0);
  const std::string whole = mat5_bytes({{"w", mat_text("x")}}).substr(0, 128) + word(14) +
                            word(static_cast<std::uint32_t>(body.size())) + body;
  EXPECT_ERROR(parsed(whole), "more than 2000000 arrays and cells");
}

}  // namespace
}  // namespace facebench
