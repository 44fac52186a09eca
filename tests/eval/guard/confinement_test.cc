// Readers whose parsers run in confined children: what a child may do, and that nothing else
// changes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <iterator>
#include <vector>

#include "facebench/io/confine.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/internal/confined_child.h"
#include "facebench/io/json.h"
#include "facebench/io/toml.h"
#include "guard/confined.h"
#include "io/helpers.h"

namespace facebench {
namespace {

// The children of this thread.
std::vector<pid_t> children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", gettid()));
  return {std::istream_iterator<pid_t>(file), {}};
}

// What `read` gives, or its error, in this process and then in a confined child.
template <class Read>
void expect_same_when_confined(Read&& read) {
  const auto outcome = [&] {
    std::string text;
    const std::string error = error_of([&] { text = read(); });
    return text + "; " + error;
  };
  const bool before = confine_readers(false);
  const std::string here = outcome();
  confine_readers(true);
  EXPECT_EQ(outcome(), here);
  EXPECT_TRUE(children().empty());
  confine_readers(before);
}

}  // namespace

TEST(Confined, TomlIsTheSame) {
  if (!can_confine()) GTEST_SKIP() << "processes cannot be confined here";
  const std::string whole =
      "a = 1\nb = -0.5\n\"\\u00fc\" = 'x'\nyes = true\nday = 2001-02-03T04:05:06Z\n"
      "[t.u]\nlist = [[1, 2], [\"a\"], []]\n[[rows]]\nk = 1\n[[rows]]\nk = inf\n";
  for (const std::string& text : {whole, whole.substr(0, 60), std::string("a = "),
                                  "x" + std::string(40, '.'), std::string("a = 1\na = 2")}) {
    expect_same_when_confined([&] { return canonical_json(parse_toml(text, "x.toml").json()); });
    // A message with a line.
    expect_same_when_confined([&] { return parse_toml(text, "x.toml").text("yes"); });
    expect_same_when_confined([&] {
      parse_toml(text, "x.toml").finish();
      return std::string("finished");
    });
  }
}

TEST(Confined, JsonIsTheSame) {
  if (!can_confine()) GTEST_SKIP() << "processes cannot be confined here";
  for (const std::string& text :
       {std::string(R"({"a": [null, true, -1, 18446744073709551615, 0.1, "\u00fc"], "b": {}})"),
        std::string("[1, 2"), std::string(R"({"a": 1, "a": 2})"), std::string("\"\xff\""),
        std::string(99, '[') + std::string(99, ']'), std::string(200, '[')})
    expect_same_when_confined([&] { return canonical_json(parse_file_json(text, "x.json")); });
}

TEST(Confined, AnAnswerThatIsNoneIsRefused) {
  Packed made;
  made.add(Json::parse(R"({"a": [1, "text", [], {"b": null}], "c": -2.5})"));
  EXPECT_EQ(Packed(made.bytes()).json(), Json::parse(R"({"a":[1,"text",[],{"b":null}],"c":-2.5})"));
  for (std::size_t n = 0; n < made.bytes().size(); ++n)
    EXPECT_THROW(Packed(made.bytes().substr(0, n)).json(), std::length_error) << n;
  for (std::size_t n = 0; n < made.bytes().size(); ++n) {
    std::string changed = made.bytes();
    changed[n] = static_cast<char>(changed[n] ^ 0x81);
    try {
      Packed(changed).json();
    } catch (const std::length_error&) {
    }
  }
  Packed deep;
  for (int k = 0; k < 100'000; ++k) {
    deep.add(static_cast<std::uint64_t>(Json::value_t::array));
    deep.add(std::uint64_t{1});
  }
  EXPECT_THROW(deep.json(), std::length_error);
}

TEST(Confined, AReaderHasAChildAndSurvivesIt) {
  if (!can_confine()) GTEST_SKIP() << "processes cannot be confined here";
  const TemporaryFolder folder;
  H5Writer file(folder / "x.h5");
  file.write<std::int32_t>("/label", std::vector<std::int32_t>{5, -6, 7}, {3});
  file.commit();
  const bool before = confine_readers(true);
  {
    const H5Reader r(folder / "x.h5");
    ASSERT_EQ(children().size(), 1u);
    EXPECT_TRUE(r.has("/label"));
    kill(children().front(), SIGSEGV);  // as a file might make the library do
    EXPECT_ERROR(r.read<std::int32_t>("/label"), "x.h5: /label: the process that read this file");
    EXPECT_ERROR(r.read<std::int32_t>("/label"), "damaged or malicious");
    EXPECT_TRUE(children().empty());
  }
  { const H5Reader another(folder / "x.h5"); }
  EXPECT_TRUE(children().empty());
  confine_readers(before);
}

TEST(Confined, AChildThatDoesNotAnswerIsEnded) {
  if (!can_confine()) GTEST_SKIP() << "processes cannot be confined here";
  const ConfinedLimits limits{.memory = 1 << 28, .seconds = 1, .answer_bytes = 100};
  ConfinedChild waits("x.bin", limits, [] {
    return [](const Packed&) {
      std::promise<void>().get_future().wait();  // without processor time
      return std::string();
    };
  });
  EXPECT_ERROR(waits.ask(Packed(), "x.bin"), "x.bin: was not read within 1 s");
  EXPECT_TRUE(children().empty());
  EXPECT_ERROR(waits.ask(Packed(), "x.bin"), "damaged or malicious");

  ConfinedChild floods("x.bin", limits,
                       [] { return [](const Packed&) { return std::string(101, 'x'); }; });
  EXPECT_ERROR(floods.ask(Packed(), "x.bin"), "x.bin: the process that read this file failed");
  EXPECT_TRUE(children().empty());
}

// The system calls that would do harm, each tried in a process of its own.
TEST(Confined, AConfinedProcessCanAnswerAndNothingElse) {
  if (!can_confine()) GTEST_SKIP() << "processes cannot be confined here";
  const TemporaryFolder folder;
  const std::string old = folder / "old", fresh = folder / "fresh";
  write_file(old, "content");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto refused = [&](auto&& act) {
    return outcome_in_child([&] {
      confine_process(ends[1], 1 << 28, 10);
      return act() < 0 && errno == EPERM ? 0 : 1;
    });
  };
  EXPECT_EQ(outcome_in_child([&] {
              confine_process(ends[1], 1 << 28, 10);
              return write(ends[1], "c", 1) == 1 ? 'c' : 1;
            }),
            'c');
  EXPECT_EQ(refused([&] { return open(old.c_str(), O_RDONLY); }), 0);
  EXPECT_EQ(refused([&] { return open("/", O_RDONLY | O_DIRECTORY); }), 0);
  EXPECT_EQ(refused([&] { return access(old.c_str(), F_OK); }), 0);
  EXPECT_EQ(refused([&] {
              struct stat facts;
              return stat(old.c_str(), &facts);
            }),
            0);
  EXPECT_EQ(refused([&] { return open(fresh.c_str(), O_WRONLY | O_CREAT, 0600); }), 0);
  EXPECT_EQ(refused([&] { return open(old.c_str(), O_RDWR); }), 0);
  EXPECT_EQ(refused([&] { return open(old.c_str(), O_RDONLY | O_TRUNC); }), 0);
  EXPECT_EQ(refused([&] { return unlink(old.c_str()); }), 0);
  EXPECT_EQ(refused([&] { return rename(old.c_str(), fresh.c_str()); }), 0);
  EXPECT_EQ(refused([&] { return write(1, "x", 1); }), 0);
  EXPECT_EQ(refused([&] { return socket(AF_INET, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(refused([&] { return fork(); }), 0);
  EXPECT_EQ(refused([&] { return execl("/bin/true", "true", nullptr); }), 0);
  EXPECT_EQ(refused([&] { return kill(getppid(), 0); }), 0);
  EXPECT_EQ(refused([&] {
              return mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                         ? -1
                         : 0;
            }),
            0);
  // More memory than allowed, and no end.
  EXPECT_EQ(outcome_in_child([&] {
              confine_process(ends[1], 1 << 28, 10);
              return mmap(nullptr, 1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                             MAP_FAILED
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(outcome_in_child([&] {
              confine_process(ends[1], 1 << 28, 1);
              for (volatile int i = 0; i == 0;) {
              }
              return 0;
            }),
            -SIGKILL);
  close(ends[0]);
  close(ends[1]);
  EXPECT_EQ(read_file(old), "content");
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

}  // namespace facebench
