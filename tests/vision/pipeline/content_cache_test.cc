#include "facebench/pipeline/content_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/sha256.h"
#include "io/helpers.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A cache in a folder of its own, and how often something was made for it.
class ContentCacheTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  const ContentCache cache{folder / "cache"};
  int made = 0;

  ContentCache::Entry ask(const Json& key, const std::string& out, const std::string& text) {
    return cache.take_or_make("pack", key, folder / out,
                              [&](const fs::path&) {
                                ++made;
                                write_file(folder / out, text);
                              },
                              {});
  }
  fs::path only_entry() const { return fs::directory_iterator(folder / "cache/pack")->path(); }
};

TEST_F(ContentCacheTest, TheSameKeyIsTakenAndAnotherIsMade) {
  const auto first = ask({{"a", 1}}, "first", "bytes");
  EXPECT_FALSE(first.taken);
  EXPECT_EQ(first.sha256, sha256_hex("bytes"));
  const auto second = ask({{"a", 1}}, "second", "never written");
  EXPECT_TRUE(second.taken);
  EXPECT_EQ(second.sha256, first.sha256);
  EXPECT_EQ(read_file(folder / "second"), "bytes");
  EXPECT_FALSE(ask({{"a", 2}}, "third", "others").taken);
  EXPECT_EQ(read_file(folder / "third"), "others");
  EXPECT_EQ(made, 2);
}

TEST_F(ContentCacheTest, ADamagedEntryIsMadeAgain) {
  ask({{"a", 1}}, "first", "bytes");
  const fs::path entry = only_entry();
  fs::remove(entry);
  write_file(entry, "bytEs");
  EXPECT_FALSE(ask({{"a", 1}}, "second", "bytes").taken);
  EXPECT_EQ(read_file(folder / "second"), "bytes");
  EXPECT_EQ(read_file(only_entry()), "bytes");
}

TEST_F(ContentCacheTest, WithoutKeyOrFolderNothingIsKept) {
  EXPECT_FALSE(ask(nullptr, "first", "bytes").taken);
  EXPECT_FALSE(fs::exists(folder / "cache"));
  const auto make = [&](const fs::path& unfinished) {
    EXPECT_TRUE(unfinished.empty());
    write_file(folder / "second", "bytes");
  };
  const ContentCache none{fs::path()};
  for (int i = 0; i < 2; ++i) {
    const auto entry = none.take_or_make("pack", {{"a", 1}}, folder / "second", make, {});
    EXPECT_FALSE(entry.taken);
    EXPECT_EQ(entry.sha256, sha256_hex("bytes"));
  }
}

TEST_F(ContentCacheTest, AnErrorOfWhatMakesItLeavesNoEntry) {
  const auto broken = [](const fs::path&) { throw Error("out of cheese"); };
  EXPECT_ERROR(cache.take_or_make("pack", {{"a", 1}}, folder / "first", broken, {}),
               "out of cheese");
  EXPECT_FALSE(ask({{"a", 1}}, "second", "bytes").taken);
}

TEST_F(ContentCacheTest, WhatWasBegunIsFoundAgainUntilTheEntryIsWhole) {
  fs::path begun;
  const auto stopped = [&](const fs::path& unfinished) {
    fs::create_directories(unfinished.parent_path());
    write_file(begun = unfinished, "half");
    throw Cancelled();
  };
  EXPECT_THROW(cache.take_or_make("pack", {{"a", 1}}, folder / "first", stopped, {}), Cancelled);
  const auto make = [&](const fs::path& unfinished) {
    EXPECT_EQ(unfinished, begun);
    EXPECT_EQ(read_file(unfinished), "half");
    write_file(folder / "first", "whole");
  };
  cache.take_or_make("pack", {{"a", 1}}, folder / "first", make, {});
  EXPECT_FALSE(fs::exists(begun));
}

TEST_F(ContentCacheTest, OfSeveralAtOnceOneMakesIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i] { ask({{"a", 1}}, std::to_string(i), "bytes"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);  // they wait for each other, so that counting needs no lock
  for (int i = 0; i < 4; ++i) EXPECT_EQ(read_file(folder / std::to_string(i)), "bytes");
}

}  // namespace
}  // namespace facebench
