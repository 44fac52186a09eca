#include "facebench/training/internal/training_log.h"

#include <string>

#include "facebench/core/error.h"
#include "facebench/io/file.h"

namespace facebench {

TrainingLog::TrainingLog(const std::filesystem::path& path, std::int64_t iteration) : path_(path) {
  std::string kept;
  // A training from the start writes a new log.
  if (iteration > 0 && std::filesystem::exists(path)) {
    const std::string text = read_file(path);
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const Json line = Json::parse(text.substr(at, end - at), nullptr, /*allow_exceptions=*/false);
      if (!line.is_object() || !line.contains("iteration") ||
          !line["iteration"].is_number_integer() || line["iteration"] > iteration)
        break;
      kept += text.substr(at, end - at + 1);
      note(line);
    }
  }
  write_file(path, kept);
  file_.reset(std::fopen(path.c_str(), "ab"));
  if (!file_) fail(path.string(), "cannot be written");
}

void TrainingLog::write(const Json& line) {
  const std::string text = canonical_json(line) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0)
    fail(path_.string(), "cannot be written", "Is the disk full?");
  note(line);
}

void TrainingLog::note(const Json& line) {
  if (line.contains("metric")) validated_ = line.at("iteration").get<std::int64_t>();
  if (!line.contains("loss") || !line["loss"].is_number()) return;
  course_.last_loss = line["loss"].get<double>();
  course_.last_accuracy = line.value("accuracy", 0.0);
  if (!course_.first_loss) course_.first_loss = course_.last_loss;
  course_.ever_a_loss |= course_.last_loss != 0;
}

}  // namespace facebench
