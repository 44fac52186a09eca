// Evaluates scores that some other program made, under a protocol. Needs neither torch nor OpenCV:
// find_package(facebench COMPONENTS eval).
//
//   evaluate_scores SCORES.csv PROTOCOL ROOT   a column "score", in the order of the lists
//   evaluate_scores                            a small example of its own
#include <facebench/core/random.h>
#include <facebench/evaluation/evaluate.h>
#include <facebench/io/file.h>
#include <facebench/runs/save.h>
#include <facebench/runs/table.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

namespace fs = std::filesystem;

namespace {

// Pairs of 50 people, and scores of a system that is right most of the time.
void write_example(const fs::path& folder) {
  facebench::Random random(0, "example");
  std::string pairs = "first,second,label\n", scores = "score\n";
  const auto add = [&](int a, int i, int b, int j) {
    pairs += "person" + std::to_string(a) + "/" + std::to_string(i) + ".jpg,person" +
             std::to_string(b) + "/" + std::to_string(j) + ".jpg," + (a == b ? "1" : "0") + "\n";
    scores += std::to_string((a == b ? 0.6 : 0.2) + 0.15 * random.normal()) + "\n";
  };
  for (int person = 0; person < 50; ++person)
    for (int k = 1; k <= 8; ++k) {
      add(person, 0, person, k);
      add(person, k, (person + k) % 50, k);
    }
  facebench::write_file(folder / "pairs.csv", pairs);
  facebench::write_file(folder / "scores.csv", scores);
}

}  // namespace

int main(int argc, char** argv) try {
  const bool own = argc != 4;
  const fs::path root = own ? fs::path("evaluate-scores-example") : fs::path(argv[3]);
  if (own) {
    fs::create_directories(root);
    write_example(root);
  }
  const fs::path file = own ? root / "scores.csv" : fs::path(argv[1]);

  const auto spec = facebench::load_protocol(own ? "pairs" : argv[2]);
  const auto trials = facebench::read_trials(spec, {.root = root, .images = {}, .lists = {}});
  const auto result = facebench::evaluate_scores(trials, facebench::read_scores_csv(file, trials),
                                                 {}, {.replicates = 500});

  // All that is needed to compute the numbers again; Python makes a page of it (facebench report).
  facebench::save_run(root / "run", result, {}, true);
  const facebench::Run runs[] = {facebench::read_run(root / "run")};
  std::cout << facebench::table_text(facebench::make_table(runs));
  std::cout << "written: " << (root / "run").string() << "\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "evaluate_scores: " << e.what() << "\n";
  return EXIT_FAILURE;
}
