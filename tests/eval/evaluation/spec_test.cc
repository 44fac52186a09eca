#include "facebench/evaluation/spec.h"

#include <gtest/gtest.h>

#include "evaluation/message_of.h"
#include "facebench/core/error.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

TEST(Spec, EveryEmbeddedProtocolLoads) {
  const auto names = protocol_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "lfw"), names.end());
  for (const std::string& name : names) {
    const ProtocolSpec s = load_protocol(name);
    EXPECT_EQ(s.id, name);
    EXPECT_GE(s.version, 1);
    EXPECT_FALSE(s.citations.empty());
    EXPECT_EQ(s.sha256.size(), 64u);
    EXPECT_FALSE(s.metrics.empty());
  }
}

TEST(Spec, UnknownNameIsAnsweredWithDidYouMean) {
  const std::string text = message_of<std::invalid_argument>([] { load_protocol("lfv"); });
  EXPECT_HAS(text, "did you mean 'lfw'");
}

std::string lfw_with(const std::string& from, const std::string& to) {
  std::string text = load_protocol("lfw").text;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Spec, SlipsAreRefusedWithFileLineAndSuggestion) {
  struct Case {
    std::string from, to, expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"match = \"exact\"", "match = \"exct\"", "did you mean 'exact'"},
           {"name = \"lfw_pairs\"", "name = \"lfw_pair\"", "did you mean 'lfw_pairs'"},
           {"convention = \"exact\"", "convention = \"exakt\"", "did you mean 'exact'"},
           {"interval = \"dyadic\"", "interval = \"dyad\"", "did you mean 'dyadic'"},
           {"name = \"eer\"", "name = \"eet\"", "did you mean 'eer'"},
           {"name = \"eer\"", "name = \"auc\"", "twice"},
           {"targets = [0.1,", "targets = [1.5,", "(0, 1)"},
           {"title =", "titel =", "title"},
           {"genuine = 3000", "genuin = 3000", "did you mean 'genuine'"},
           {"images = [\".\", ", "images = [\"../../x\", ", "below the root"},
           {"ask = [", "asks = [", "did you mean 'ask'"},
           {"version = 1", "version = \"one\"", "version"}}) {
    const std::string text =
        message_of<Error>([&] { parse_protocol(lfw_with(c.from, c.to), "mine.toml"); });
    EXPECT_HAS(text, c.expected);
    EXPECT_HAS(text, "mine.toml:");
  }
}

}  // namespace
}  // namespace facebench
