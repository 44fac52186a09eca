#include "facebench/trials/internal/tail_shards.h"

#include <fmt/format.h>

#include "facebench/core/error.h"
#include "facebench/io/hdf5.h"
#include "facebench/trials/internal/columns.h"

namespace facebench {
namespace {

constexpr const char* kKind = "shard of tails";
constexpr int kFormat = 1;

TailShard read_shard(const H5Reader& file, const Json& said, const std::string& group) {
  TailShard shard{said.at("track"), said.at("sha256"), {}};
  AllPairsShard& pairs = shard.pairs;
  pairs.number = said.at("number");
  pairs.count = said.at("count");
  pairs.isa = said.at("isa");
  ScoreTail& tail = pairs.tail;
  read_compared(file, group, tail);
  tail.histogram.impostor = file.read<std::int64_t>(group + "counted", 1);
  const auto bounds = file.read<double>(group + "bound_and_blur", 1);
  const auto counts = file.read<std::int64_t>(group + "wanted_reach_and_count", 1);
  if (bounds.size() != 2 || counts.size() != 3) throw std::invalid_argument(group + " is damaged");
  pairs.bound = bounds[0];
  tail.histogram_blur = bounds[1];
  pairs.wanted = counts[0];
  tail.impostor_reach = counts[1];
  tail.impostor_count = counts[2];
  return shard;
}

}  // namespace

void write_tail_shards(const std::filesystem::path& path, const std::vector<TailShard>& shards) {
  H5Writer file(path);
  Json listed = Json::array();
  for (const TailShard& shard : shards) {
    const std::string group = fmt::format("/tracks/{}/", listed.size());
    const AllPairsShard& pairs = shard.pairs;
    listed.push_back({{"track", shard.track},
                      {"sha256", shard.sha256},
                      {"number", pairs.number},
                      {"count", pairs.count},
                      {"isa", pairs.isa}});
    const ScoreTail& tail = pairs.tail;
    write_compared(file, group, tail);
    write_column(file, group + "counted", tail.histogram.impostor);
    write_column(file, group + "bound_and_blur", std::vector{pairs.bound, tail.histogram_blur});
    write_column(file, group + "wanted_reach_and_count",
                 std::vector{pairs.wanted, tail.impostor_reach, tail.impostor_count});
  }
  file.write_json("/manifest", {{"kind", kKind}, {"format", kFormat}, {"shards", listed}});
  file.commit();
}

std::vector<TailShard> read_tail_shards(const std::filesystem::path& path) {
  const H5Reader file(path);
  std::vector<TailShard> shards;
  try {
    const Json manifest = file.has("/manifest") ? file.read_json("/manifest") : Json::object();
    if (manifest.value("kind", Json()) != kKind || manifest.value("format", Json()) != kFormat)
      throw std::invalid_argument("not made by eval --shard of this version");
    for (const Json& said : manifest.at("shards"))
      shards.push_back(read_shard(file, said, fmt::format("/tracks/{}/", shards.size())));
  } catch (const std::invalid_argument& e) {
    fail(path.string(), e.what());
  } catch (const Json::exception& e) {
    fail(path.string(), e.what());
  }
  return shards;
}

}  // namespace facebench
