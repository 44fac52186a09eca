#include "pipeline/kept_faces.h"

#include <array>

#include "facebench/core/error.h"
#include "facebench/io/json.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// {"faces": [...], "id": ...}. A float is the same float when it is read back.
Json to_json(std::string_view sample_id, const std::vector<Face>& faces) {
  Json list = Json::array();
  for (const Face& face : faces) {
    Json one = {{"box", {face.box.x0, face.box.y0, face.box.x1, face.box.y1}},
                {"score", face.score}};
    if (face.has_landmarks)
      for (const Point& p : face.landmarks) one["landmarks"].push_back({p.x, p.y});
    list.push_back(std::move(one));
  }
  return {{"id", sample_id}, {"faces", list}};
}

Face face_of(const Json& json) {
  Face face;
  const auto box = json.at("box").get<std::array<float, 4>>();
  face.box = {box[0], box[1], box[2], box[3]};
  face.score = json.at("score");
  face.has_landmarks = json.contains("landmarks");
  for (std::size_t k = 0; face.has_landmarks && k < face.landmarks.size(); ++k) {
    const auto point = json.at("landmarks").at(k).get<std::array<float, 2>>();
    face.landmarks[k] = {point[0], point[1]};
  }
  return face;
}

}  // namespace

KeptFaces::KeptFaces(const Detector& detector, const fs::path& file)
    : detector_(detector), path_(file) {
  fs::create_directories(path_.parent_path());
  std::uintmax_t whole = 0;  // bytes
  std::ifstream before(path_, std::ios::binary);
  for (std::string line; std::getline(before, line) && !before.eof(); whole += line.size() + 1) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) break;
    std::vector<Face> faces;
    for (const Json& face : json.at("faces")) faces.push_back(face_of(face));
    known_.emplace(json.at("id"), std::move(faces));
  }
  before.close();
  // What follows was not written whole when the process, or the machine, was stopped.
  if (fs::exists(path_)) fs::resize_file(path_, whole);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail(path_.string(), "cannot be written", "Choose another folder for the cache");
}

std::vector<Face> KeptFaces::find(const Image& image, std::string_view sample_id) const {
  if (const auto found = known_.find(sample_id); found != known_.end()) return found->second;
  std::vector<Face> faces = detector_.detect(image, sample_id);
  const std::string line = canonical_json(to_json(sample_id, faces)) + "\n";
  const std::lock_guard lock(writing_);
  if (!(file_ << line << std::flush))
    fail(path_.string(), "cannot be written", "Free some space and try again");
  return faces;
}

}  // namespace facebench
