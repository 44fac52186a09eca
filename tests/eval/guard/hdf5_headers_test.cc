// Headers of objects, made by hand after the format's description: which of them the library gets.
#include "facebench/guard/internal/hdf5_headers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace facebench::hdf5 {
namespace {

std::string number(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

constexpr unsigned kNil = 0, kContinuation = 16;

std::string place(std::uint64_t address, std::uint64_t bytes) {
  return number(address, 8) + number(bytes, 8);
}

// Version 1: a message, and a header of messages.
std::string message(unsigned type, const std::string& data) {
  return number(type, 2) + number(data.size(), 2) + number(0, 4) + data;
}
std::string header(const std::string& messages) {
  return number(1, 2) + number(1, 2) + number(1, 4) + number(messages.size(), 8) + messages;
}

// Version 2: times and the order of creation are kept; checksums are the library's own affair.
std::string message2(unsigned type, const std::string& data) {
  return number(type, 1) + number(data.size(), 2) + number(0, 3) + data;
}
std::string header2(const std::string& messages) {
  return "OHDR" + number(2, 1) + number(0x24 | 1, 1) + number(0, 16) + number(messages.size(), 2) +
         messages + "sums";
}
std::string part2(const std::string& messages) { return "OCHK" + messages + "sums"; }

struct File {
  std::string bytes;
  ObjectHeaders headers{bytes.size(), [this](std::uint64_t address, std::span<std::byte> out) {
                          if (address > bytes.size() || out.size() > bytes.size() - address)
                            return false;
                          std::memcpy(out.data(), bytes.data() + address, out.size());
                          return true;
                        }};

  // Whether the library may have what it reads there: `count` bytes, or up to the end.
  bool gives(std::uint64_t address, std::uint64_t count = std::string::npos) {
    const std::string read = bytes.substr(address, count);
    return headers.are_sound(address, std::as_bytes(std::span(read)), bytes.size());
  }
};

}  // namespace

TEST(Hdf5Headers, AContinuationIsAsLongAsWhatIsReadOfIt) {
  for (const std::size_t bytes : {0, 8, 15}) {
    const std::string cut = place(0, 0).substr(0, bytes);
    EXPECT_FALSE(File{header(message(kContinuation, cut))}.gives(0)) << bytes;
    EXPECT_FALSE(File{header2(message2(kContinuation, cut))}.gives(0)) << bytes;
  }
  // It says 16 bytes, and ends with its header before.
  std::string last = message(kContinuation, place(0, 0));
  EXPECT_FALSE(File{header(last.substr(0, 16))}.gives(0));
  EXPECT_TRUE(File{header(message(kNil, place(0, 0).substr(0, 8)))}.gives(0));
}

TEST(Hdf5Headers, WhatContinuesAHeaderIsFollowed) {
  const std::string good = message(kNil, std::string(24, 'x')), bad = message(kContinuation, "");
  const std::string good2 = message2(kNil, std::string(24, 'x')),
                    bad2 = message2(kContinuation, "");
  const std::string first = header(message(kContinuation, place(0, 0)));
  const std::string first2 = header2(message2(kContinuation, place(0, 0)));
  const auto two = [&](const std::string& part) {
    return File{header(message(kContinuation, place(first.size(), part.size()))) + part};
  };
  const auto two2 = [&](const std::string& part) {
    return File{header2(message2(kContinuation, place(first2.size(), part.size()))) + part};
  };
  EXPECT_TRUE(two(good).gives(0));
  EXPECT_FALSE(two(good + bad).gives(0));
  EXPECT_TRUE(two2(part2(good2)).gives(0));
  EXPECT_FALSE(two2(part2(good2 + bad2)).gives(0));
  EXPECT_FALSE(two2("OCHK").gives(0)) << "no room for a checksum";
  EXPECT_FALSE(File{header(message(kContinuation, place(1 << 20, 8)))}.gives(0)) << "outside";
  // Round and round, and parts on top of one another.
  EXPECT_TRUE(two(message(kContinuation, place(first.size(), 24))).gives(0));
  std::string many;
  for (std::uint64_t k = 0; k < 100; ++k) many += message(kContinuation, place(k, 2000));
  EXPECT_FALSE(File{header(many)}.gives(0));
}

TEST(Hdf5Headers, ALayoutIsAsLongAsWhatIsReadOfIt) {
  const auto is_given = [](const std::string& layout) {
    constexpr unsigned kLayout = 8;
    const bool given = File{header(message(kLayout, layout))}.gives(0);
    EXPECT_EQ(File{header2(message2(kLayout, layout))}.gives(0), given);
    return given;
  };
  using namespace std::string_literals;
  const std::string dimensions = number(2, 4) + number(8, 4);
  const struct {
    const char* name;
    std::string layout;
  } layouts[] = {
      {"contiguous", "\3\1"s + place(4096, 64)},
      {"compact", "\3\0\5\0hello"s},
      {"chunked", "\3\2\2"s + number(4096, 8) + dimensions},
      {"contiguous, version 1", "\1\2\1\0\0\0\0\0"s + number(4096, 8) + dimensions},
      {"compact, version 2", "\2\1\0\0\0\0\0\0"s + number(2, 4) + number(5, 4) + "hello"},
      {"single chunk, version 4", "\4\2\0\1\4"s + number(9, 4) + "\1" + number(4096, 8)},
      {"filtered chunk, version 4",
       "\4\2\2\1\4"s + number(9, 4) + "\1" + number(99, 8) + number(0, 4) + number(4096, 8)},
      {"fixed array, version 4", "\4\2\0\1\4"s + number(9, 4) + "\3\n" + number(4096, 8)},
  };
  for (const auto& [name, layout] : layouts) {
    EXPECT_TRUE(is_given(layout)) << name;
    EXPECT_FALSE(is_given(layout.substr(0, layout.size() - 1))) << name;
  }
  EXPECT_FALSE(is_given("\4\3"s + place(4096, 1))) << "virtual";
  EXPECT_FALSE(is_given("\4\2\0\1\4"s + number(9, 4) + "\6" + std::string(20, 'x')));
  EXPECT_TRUE(is_given("\5")) << "the library knows no such version";
}

TEST(Hdf5Headers, PartsAreReadLater) {
  // Of a long header 512 bytes are read first, then the rest; what continues it by itself. Both
  // begin like a header here, and would be none.
  const std::string like = number(1, 2) + std::string(6, '\0') + std::string(8, '\xff');
  const std::string rest = std::string(16, '\0') + like;
  const std::string filler = message(kNil, std::string(512 - 16 - 24 - 8 - 16, '\0'));
  const std::uint64_t at = 512 + like.size();
  File file{header(message(kContinuation, place(at, like.size())) + filler + rest) + like + "end"};
  ASSERT_TRUE(file.gives(0, 512));
  EXPECT_TRUE(file.gives(512, file.bytes.size() - 512 - like.size() - 3));
  EXPECT_TRUE(file.gives(at, like.size()));
  // As the first read of a header, the same bytes are looked at.
  EXPECT_FALSE(file.gives(at));
  EXPECT_TRUE(File{"FRHP, a heap"}.gives(0)) << "no header of an object";
}

}  // namespace facebench::hdf5
