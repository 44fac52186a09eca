#include "facebench/pipeline/internal/kept_faces.h"

#include <cerrno>

#include "facebench/detection/given.h"
#include "facebench/io/json.h"
#include "facebench/io/machine_error.h"
#include "facebench/io/presence.h"

namespace facebench {

namespace fs = std::filesystem;

KeptFaces::KeptFaces(const Detector& detector, const fs::path& file)
    : detector_(detector), path_(file) {
  fs::create_directories(path_.parent_path());
  std::uintmax_t whole = 0;  // bytes
  const bool begun = is_there(path_);
  std::ifstream before(path_, std::ios::binary);
  if (begun && !before) fail_errno(path_, "read", errno);
  for (std::string line; std::getline(before, line) && !before.eof(); whole += line.size() + 1) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) break;
    std::vector<Face> faces;
    for (const Json& face : json.at("faces")) faces.push_back(face_of_json(face));
    known_.emplace(json.at("id"), std::move(faces));
  }
  before.close();
  // What follows was not written whole when the process, or the machine, was stopped.
  if (begun) fs::resize_file(path_, whole);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail_errno(path_, "write", errno);
}

std::vector<Face> KeptFaces::find(const Image& image, std::string_view sample_id) const {
  if (const auto found = known_.find(sample_id); found != known_.end()) return found->second;
  std::vector<Face> faces = detector_.detect(image, sample_id);
  Json list = Json::array();
  for (const Face& face : faces) list.push_back(face_json(face));
  const std::string line = canonical_json({{"faces", list}, {"id", sample_id}}) + "\n";
  const std::lock_guard lock(writing_);
  if (!(file_ << line << std::flush)) fail_errno(path_, "write", errno);
  return faces;
}

}  // namespace facebench
