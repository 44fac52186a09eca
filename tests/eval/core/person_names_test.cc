#include "facebench/core/person_names.h"

#include <gtest/gtest.h>

namespace facebench {
namespace {

using Names = std::vector<std::string>;

TEST(PersonNames, SpellingsOfOneNameBecomeOne) {
  for (const char* name :
       {"Jane_Doe", "jane doe", "JANE-DOE", "Doe, Jane", "Doe,_Jane", "Jane.Doe", "Jane_Doe_0002",
        " Jane  Doe ", "Jáne Dœ", "Jane Doe 12 0003", "Doe, Jane 0002"})
    EXPECT_EQ(normalized_name(name), "jane doe") << name;
  EXPECT_EQ(normalized_name("O'Brien_Conan"), "obrien conan");
  EXPECT_EQ(normalized_name("Conan O\u2019Brien"), "conan obrien");
  EXPECT_EQ(normalized_name("Gerhard Schröder"), normalized_name("Gerhard Schro\u0308der"));
  EXPECT_EQ(normalized_name("Großmann"), "grossmann");
  EXPECT_EQ(normalized_name("Łukasz Żak"), "lukasz zak");
  EXPECT_EQ(normalized_name("ΣΩΚΡΆΤΗΣ"), "σωκρατησ");
  EXPECT_EQ(normalized_name("Николай"), "николаи");
  EXPECT_EQ(normalized_name("成龙"), "成龙");
  EXPECT_EQ(normalized_name("a,b,c"), "");
}

TEST(PersonNames, IdentifiersAreNoNames) {
  for (const char* name : {"0000045", "n000082", "m.0107_f", "", "_", "7", "id10001", "\xFF\xFE"})
    EXPECT_EQ(normalized_name(name), "") << name;
  EXPECT_EQ(normalized_name("Madonna"), "madonna");
}

struct Match {
  std::string first, second, rule;
  bool operator==(const Match&) const = default;
};
std::vector<Match> matches(const Names& a, const Names& b) {
  std::vector<Match> result;
  for (const NameMatch& m : match_names(a, b).matches)
    result.push_back(
        {a[static_cast<std::size_t>(m.first)], b[static_cast<std::size_t>(m.second)], m.rule});
  return result;
}

TEST(PersonNames, MatchesSayByWhichRule) {
  const Names a = {"Jane_Doe", "Petr_Škoda", "Doe_John", "Ann_Lee", "0000045"};
  const Names b = {"0000045", "John_Doe", "Jane_Doe", "skoda petr", "Petr Skoda", "Bob_Lee"};
  EXPECT_EQ(matches(a, b), (std::vector<Match>{{"Jane_Doe", "Jane_Doe", "same"},
                                               {"Petr_Škoda", "skoda petr", "reordered"},
                                               {"Petr_Škoda", "Petr Skoda", "folded"},
                                               {"Doe_John", "John_Doe", "reordered"}}));
  const NameComparison c = match_names(a, b);
  EXPECT_EQ(c.first_unnamed, 1);
  EXPECT_EQ(c.second_unnamed, 1);
}

TEST(PersonNames, NumbersCountWhereTheyTellPeopleApart) {
  const Names people = {"Person_00001", "Person_00002", "Person_00003"};
  EXPECT_EQ(matches(people, {"Person_00002", "Person_00009"}),
            (std::vector<Match>{{"Person_00002", "Person_00002", "same"}}));
  EXPECT_EQ(matches({"Jane_Doe_1", "Jane_Doe_2"}, {"Jane_Doe"}),
            (std::vector<Match>{{"Jane_Doe_1", "Jane_Doe", "namesake"},
                                {"Jane_Doe_2", "Jane_Doe", "namesake"}}));
  EXPECT_EQ(matches({"Jane_Doe_7"}, {"Jane_Doe"}),
            (std::vector<Match>{{"Jane_Doe_7", "Jane_Doe", "folded"}}));
}

}  // namespace
}  // namespace facebench
