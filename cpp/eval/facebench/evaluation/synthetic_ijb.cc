#include "facebench/evaluation/synthetic_ijb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/json.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Sizes of the lists; those of the protocols' [[expected]].
struct Sizes {
  std::int64_t first_gallery, second_gallery, probes;  // templates
  std::int64_t gallery_faces, probe_faces;
  std::int64_t genuine, impostor;
  const char* first;
  const char* second;

  std::int64_t galleries() const { return first_gallery + second_gallery; }
  std::int64_t faces() const { return gallery_faces + probe_faces; }
};

Sizes sizes_of(const SyntheticIjbOptions& options) {
  // IJB-C: 457,519 of 469,375 faces are of probes. IJB-B: the share of faces is taken from IJB-C.
  Sizes s = options.like == "ijbc"
                ? Sizes{1772, 1759, 19593, 11856, 457519, 19557, 15638932, "G1", "G2"}
                : Sizes{923, 922, 10270, 5750, 221880, 10270, 8000000, "S1", "S2"};
  const auto scaled = [&](std::int64_t& n, double by, std::int64_t least) {
    n = std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(n) * by)));
  };
  scaled(s.first_gallery, options.scale, 2);
  scaled(s.second_gallery, options.scale, 2);
  scaled(s.probes, options.scale, s.galleries());
  scaled(s.gallery_faces, options.scale, s.galleries());
  scaled(s.probe_faces, options.scale, s.probes);
  scaled(s.genuine, options.scale, 1);
  s.genuine = std::min(s.genuine, s.probes);
  scaled(s.impostor, options.scale * options.scale, 1);
  return s;
}

// A face of the lists.
struct Face {
  std::int32_t owner = 0;  // template, from 0: galleries, then probes
  std::int32_t medium = 0;
};

class Lists {
 public:
  explicit Lists(const SyntheticIjbOptions& options)
      : seed_(static_cast<std::uint64_t>(options.seed)), sizes_(sizes_of(options)) {
    add_faces(0, sizes_.galleries(), sizes_.gallery_faces);
    add_faces(sizes_.galleries(), sizes_.probes, sizes_.probe_faces);
  }

  const Sizes& sizes() const { return sizes_; }
  const std::vector<Face>& faces() const { return faces_; }
  static std::string name(std::size_t face) { return fmt::format("{}.jpg", face + 1); }
  std::int64_t person(std::int64_t owner) const {
    return owner < sizes_.galleries() ? owner : (owner - sizes_.galleries()) % sizes_.galleries();
  }

  std::string face_rows() const {
    std::string text;
    for (std::size_t i = 0; i < faces_.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", name(i), faces_[i].owner + 1,
                     faces_[i].medium);
    return text;
  }

  std::string point_rows() const {
    constexpr double at[] = {38.2946, 51.6963, 73.5318, 51.5014, 56.0252,
                             71.7366, 41.5493, 92.3655, 70.7299, 92.2041};
    std::string text;
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      Random random(seed_, "ijb.points", {i});
      text += name(i);
      for (const double v : at)
        fmt::format_to(std::back_inserter(text), " {:.3f}", v + random.uniform(-4, 4));
      // About one in ninety was hardly found, as in IJB-B's own histogram.
      fmt::format_to(std::back_inserter(text), " {:.3f}\n",
                     random.below(90) == 0 ? 0.1 : random.uniform(0.9, 1));
    }
    return text;
  }

  // Genuine comparisons of the first probes with their people; then to each gallery template other
  // probes, which no pair repeats.
  std::string pair_rows() const {
    const std::int64_t galleries = sizes_.galleries(), probes = sizes_.probes;
    std::string text;
    const auto add = [&](std::int64_t gallery, std::int64_t probe, int label) {
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", gallery + 1, galleries + probe + 1,
                     label);
    };
    for (std::int64_t g = 0; g < galleries; ++g) {
      for (std::int64_t p = g; p < sizes_.genuine; p += galleries) add(g, p, 1);
      Random random(seed_, "ijb.impostors", {static_cast<std::uint64_t>(g)});
      std::int64_t step = 1 + static_cast<std::int64_t>(random.below(probes - 1));
      while (std::gcd(step, probes) != 1) step = step % (probes - 1) + 1;
      std::int64_t probe = static_cast<std::int64_t>(random.below(probes));
      std::int64_t wanted = sizes_.impostor * (g + 1) / galleries - sizes_.impostor * g / galleries;
      for (std::int64_t k = 0; k < probes && wanted > 0; ++k, probe = (probe + step) % probes) {
        if (probe % galleries == g) continue;
        add(g, probe, 0);
        --wanted;
      }
    }
    return text;
  }

  // Templates `begin` to `end` - 1, a row for each face.
  std::string csv_rows(std::int64_t begin, std::int64_t end) const {
    std::string text = "TEMPLATE_ID,SUBJECT_ID,FILENAME,SIGHTING_ID\n";
    for (std::size_t i = 0; i < faces_.size(); ++i)
      if (faces_[i].owner >= begin && faces_[i].owner < end)
        fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", faces_[i].owner + 1,
                       person(faces_[i].owner) + 1, name(i), faces_[i].medium);
    return text;
  }

 private:
  // One for each template, the others drawn; about ten in a medium.
  void add_faces(std::int64_t first, std::int64_t templates, std::int64_t faces) {
    Random random(seed_, "ijb.faces", {static_cast<std::uint64_t>(first)});
    std::vector<std::int64_t> count(static_cast<std::size_t>(templates), 1);
    for (std::int64_t i = templates; i < faces; ++i)
      ++count[random.below(static_cast<std::uint64_t>(templates))];
    for (std::int64_t t = 0; t < templates; ++t) {
      const std::int64_t n = count[static_cast<std::size_t>(t)];
      const auto media = static_cast<std::uint64_t>(n < 5 ? n : n / 10 + 2);
      for (std::int64_t i = 0; i < n; ++i)
        faces_.push_back({static_cast<std::int32_t>(first + t),
                          next_medium_ + static_cast<std::int32_t>(random.below(media))});
      next_medium_ += static_cast<std::int32_t>(media);
    }
  }

  std::uint64_t seed_;
  Sizes sizes_;
  std::vector<Face> faces_;
  std::int32_t next_medium_ = 1;
};

void write_embeddings_of(const Lists& lists, const SyntheticIjbOptions& options,
                         const fs::path& path, const Job& job) {
  constexpr std::int64_t block = 8192;
  const std::int64_t dim = options.dim, n = static_cast<std::int64_t>(lists.faces().size());
  const auto seed = static_cast<std::uint64_t>(options.seed);
  const auto width = static_cast<std::size_t>(dim);
  H5Writer file(path);
  file.create_dataset("/embedding", h5_type_of<float>(), {n, dim});
  std::vector<float> values;
  Stage stage(job, "embeddings", n, "faces");
  Job inner = job;
  inner.progress = nullptr;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t count = std::min(block, n - begin);
    values.resize(static_cast<std::size_t>(count) * width);
    parallel_for(count, inner, [&](std::int64_t i, int) {
      const auto face = static_cast<std::uint64_t>(begin + i);
      const Face& of = lists.faces()[face];
      Random person(seed, "ijb.person", {static_cast<std::uint64_t>(lists.person(of.owner))}),
          medium(seed, "ijb.medium", {static_cast<std::uint64_t>(of.medium)}),
          own(seed, "ijb.face", {face});
      const double spread = medium.uniform(0.5, 5), length = own.uniform(0.5, 1.5);
      float* out = values.data() + static_cast<std::size_t>(i) * width;
      for (std::size_t k = 0; k < width; ++k)
        out[k] = static_cast<float>(length *
                                    (person.normal() + spread * medium.normal() + own.normal()));
    });
    file.write_rows<float>("/embedding", begin, values);
    stage.update(begin + count);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lists.faces().size(); ++i) names.push_back(Lists::name(i));
  file.write_texts("/name", names);
  file.write_json("/manifest", {{"kind", "synthetic"}, {"options", options_to_json(options)}});
  file.commit();
}

}  // namespace

void SyntheticIjbOptions::describe(OptionsBuilder<SyntheticIjbOptions>& o) {
  o.name("SyntheticIjbOptions", "Lists with the structure of IJB-B or IJB-C, without images.");
  o.choice("like", &SyntheticIjbOptions::like, "the set whose lists are made", {"ijbb", "ijbc"});
  o.field("scale", &SyntheticIjbOptions::scale,
          "of templates and faces; comparisons go with its square", 1e-3, 1);
  o.field("dim", &SyntheticIjbOptions::dim,
          "numbers of an embedding, written to embeddings.h5; 0 = lists alone", 0, 4096);
  o.field("seed", &SyntheticIjbOptions::seed, "which lists, which embeddings", 0,
          9007199254740992.0);
}

SyntheticIjbSummary write_synthetic_ijb(const SyntheticIjbOptions& options, const fs::path& folder,
                                        const Job& job) {
  check_options(options);
  const Lists lists(options);
  const Sizes& sizes = lists.sizes();
  AtomicFolder atomic(folder);
  const std::string& p = options.like;
  const fs::path meta = atomic.temporary() / (p == "ijbc" ? "IJBC" : "IJBB") / "meta";
  const std::string pairs = lists.pair_rows();
  const auto write = [&](std::string_view name, std::string_view text) {
    write_file(meta / fmt::format("{}_{}", p, name), text);
  };
  write("face_tid_mid.txt", lists.face_rows());
  write("name_5pts_score.txt", lists.point_rows());
  write("template_pair_label.txt", pairs);
  write(fmt::format("1N_gallery_{}.csv", sizes.first), lists.csv_rows(0, sizes.first_gallery));
  write(fmt::format("1N_gallery_{}.csv", sizes.second),
        lists.csv_rows(sizes.first_gallery, sizes.galleries()));
  write("1N_probe_mixed.csv", lists.csv_rows(sizes.galleries(), sizes.galleries() + sizes.probes));
  if (options.dim > 0)
    write_embeddings_of(lists, options, atomic.temporary() / "embeddings.h5", job);
  const SyntheticIjbSummary summary{folder, sizes.galleries() + sizes.probes, sizes.faces(),
                                    std::ranges::count(pairs, '\n')};
  write_file(atomic.temporary() / "manifest.json",
             pretty_json({{"kind", "synthetic lists"},
                          {"format", 1},
                          {"options", options_to_json(options)},
                          {"templates", summary.templates},
                          {"faces", summary.faces},
                          {"comparisons", summary.comparisons}}));
  atomic.commit();
  return summary;
}

}  // namespace facebench
