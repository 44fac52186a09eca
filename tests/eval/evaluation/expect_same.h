#pragma once

#include <gtest/gtest.h>

#include "facebench/evaluation/evaluate.h"

// The numbers of a track measured in two ways.
namespace facebench {

inline void expect_same_counts(const TrackResult& a, const TrackResult& b) {
  EXPECT_EQ(a.comparisons, b.comparisons);
  EXPECT_EQ(a.genuine, b.genuine);
  EXPECT_EQ(a.dropped, b.dropped);
  EXPECT_EQ(a.failed_comparisons, b.failed_comparisons);
  EXPECT_EQ(a.more_counts, b.more_counts);
}

// Both with an interval.
inline void expect_same_number(const Number& a, const Number& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.value, b.value) << a.name;
  EXPECT_EQ(counts_json(a), counts_json(b)) << a.name;
  ASSERT_TRUE(a.interval && b.interval) << a.name;
  EXPECT_EQ(a.interval->low, b.interval->low) << a.name;
  EXPECT_EQ(a.interval->high, b.interval->high) << a.name;
}

}  // namespace facebench
