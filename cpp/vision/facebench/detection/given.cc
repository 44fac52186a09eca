#include "facebench/detection/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr std::array<std::string_view, 10> kLandmarkColumns{
    "left_eye_x", "left_eye_y",   "right_eye_x",  "right_eye_y",   "nose_x",
    "nose_y",     "left_mouth_x", "left_mouth_y", "right_mouth_x", "right_mouth_y"};
const std::string kAdvice =
    "Columns: name, then x0 y0 x1 y1 or x y width height, score, left_eye_x ... right_mouth_y "
    "(see the option columns)";

// A file of cells, whatever separates them.
struct Cells {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::int64_t> lines;

  std::optional<std::size_t> find(std::string_view column) const {
    const auto at = std::find(columns.begin(), columns.end(), column);
    if (at == columns.end()) return std::nullopt;
    if (std::find(at + 1, columns.end(), column) != columns.end())
      fail(name, fmt::format("there are two columns '{}'", column), kAdvice);
    return static_cast<std::size_t>(at - columns.begin());
  }
};

// Texts "ours=theirs". A column of the file that is called ours already would be ambiguous.
void rename_columns(Cells& cells, const std::vector<std::string>& names) {
  for (const std::string& text : names) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw std::invalid_argument(fmt::format("rename: '{}' is not OURS=THEIRS", text));
    const std::string ours = text.substr(0, equals), theirs = text.substr(equals + 1);
    const auto at = cells.find(theirs);
    if (!at) fail(cells.name, unknown_name_message("column", theirs, cells.columns));
    if (cells.find(ours))
      fail(cells.name, fmt::format("has a column '{}' beside '{}'", ours, theirs), kAdvice);
    cells.columns[*at] = ours;
  }
}

Cells read_cells(const GivenOptions& options, std::string bytes) {
  Cells cells;
  cells.name = options.file;
  if (options.separator == "blanks") {
    const TextFile text(std::move(bytes), options.file);
    for (const TextLine& line : text.lines()) {
      const std::vector<std::string_view> fields = split_whitespace(line.text);
      if (fields.empty()) continue;
      std::vector<std::string> row(fields.begin(), fields.end());
      if (cells.columns.empty() && options.columns.empty()) {
        cells.columns = std::move(row);
        continue;
      }
      cells.rows.push_back(std::move(row));
      cells.lines.push_back(line.number);
    }
  } else {
    CsvOptions csv;
    csv.separator = options.separator == "tab" ? '\t' : ',';
    csv.header = options.columns.empty();
    const CsvTable table(std::move(bytes), options.file, csv);
    if (csv.header) cells.columns = table.columns();
    for (std::size_t r = 0; r < table.rows(); ++r) {
      std::vector<std::string> row;
      for (std::size_t c = 0; c < table.columns().size(); ++c) row.push_back(table.cell(r, c));
      cells.rows.push_back(std::move(row));
      cells.lines.push_back(table.place(r).line);
    }
  }
  if (!options.columns.empty()) cells.columns = options.columns;
  rename_columns(cells, options.rename);
  for (std::size_t r = 0; r < cells.rows.size(); ++r)
    if (cells.rows[r].size() != cells.columns.size())
      fail(at_line(cells.name, cells.lines[r]),
           fmt::format("{} cells where there are {} columns", cells.rows[r].size(),
                       cells.columns.size()),
           kAdvice);
  return cells;
}

std::string stem_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t start = slash == std::string_view::npos ? 0 : slash + 1;
  if (const std::size_t hash = name.rfind('#'); hash != std::string_view::npos && hash > start)
    name = name.substr(0, hash);
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > start)
    name = name.substr(0, dot);
  return std::string(name);
}

class Given final : public Detector {
 public:
  explicit Given(const GivenOptions& options) : options_(options) {
    check_options(options_);
    if (options_.file.empty())
      throw std::invalid_argument(
          "the detector 'given' needs a table of faces: set its option file, or name another "
          "detector (a model that was trained on given faces asks for it)");
    std::string bytes = read_file(options_.file);
    sha256_ = sha256_hex(bytes);
    read(read_cells(options_, std::move(bytes)));
  }

  void check_samples(std::span<const std::string> sample_ids) const override {
    if (sample_ids.empty() || faces_.empty()) return;
    const auto named = [&](const std::string& id) { return faces_.contains(key(id)); };
    if (std::any_of(sample_ids.begin(), sample_ids.end(), named)) return;
    fail(options_.file,
         fmt::format("names none of the {} images: it has '{}', the first image is '{}'",
                     sample_ids.size(), printable(first_), printable(sample_ids.front())),
         options_.match == "stem" ? "Is it the file of another data set?"
                                  : "The option match=stem compares without endings.");
  }

  Json description() const override {
    Json options = options_to_json(options_);
    options.erase("file");  // where the file lies decides nothing; its content does
    return {{"detector", "given"}, {"options", options}, {"file_sha256", sha256_}};
  }

 private:
  void read(const Cells& cells) {
    const auto column = [&](std::string_view name) { return cells.find(name); };
    const auto name = column("name");
    if (!name) fail(cells.name, "there is no column 'name'", kAdvice);
    std::array<std::optional<std::size_t>, 4> corners{column("x0"), column("y0"), column("x1"),
                                                      column("y1")};
    const std::array<std::optional<std::size_t>, 4> sized{column("x"), column("y"), column("width"),
                                                          column("height")};
    std::array<std::optional<std::size_t>, 10> points;
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = column(kLandmarkColumns[i]);
    const auto score = column("score"), status = column("status");

    const bool by_corners = complete(corners, cells, "x0 y0 x1 y1");
    const bool by_size = !by_corners && complete(sized, cells, "x y width height");
    const bool has_points = complete(points, cells, "left_eye_x ... right_mouth_y");
    if (!by_corners && !by_size && !has_points)
      fail(cells.name, "there are neither boxes nor landmarks", kAdvice);
    if (by_size) corners = sized;

    for (std::size_t r = 0; r < cells.rows.size(); ++r) {
      const std::vector<std::string>& row = cells.rows[r];
      if (r == 0) first_ = row[*name];
      std::vector<Face>& faces = faces_[key(row[*name])];
      if (status && !row[*status].empty() && row[*status] != "ok") continue;  // no face
      const Place place{cells.name, cells.lines[r]};
      const auto value = [&](std::size_t c, double scale) {
        const double v = parse_double(row[c], place, cells.columns[c]) * scale;
        if (!(std::abs(v) <= 1e9))
          fail(at_line(place.file, place.line),
               fmt::format("{} is {}, beyond any image", cells.columns[c], row[c]));
        return static_cast<float>(v);
      };
      Face face;
      face.has_landmarks = has_points && !std::all_of(points.begin(), points.end(),
                                                      [&](auto c) { return row[*c].empty(); });
      if (face.has_landmarks)
        for (std::size_t k = 0; k < 5; ++k)
          face.landmarks[k] = {value(*points[2 * k], options_.scale),
                               value(*points[2 * k + 1], options_.scale)};
      if (by_corners || by_size) {
        face.box = {value(*corners[0], options_.scale), value(*corners[1], options_.scale),
                    value(*corners[2], options_.scale), value(*corners[3], options_.scale)};
        if (by_size) {
          face.box.x1 += face.box.x0;
          face.box.y1 += face.box.y0;
        }
      } else if (face.has_landmarks) {
        face.box = extent(face.landmarks);
      } else {
        fail(at_line(place.file, place.line), "the row has neither a box nor landmarks", kAdvice);
      }
      if (!(face.box.width() > 0 && face.box.height() > 0))
        fail(at_line(place.file, place.line), "the box has no area", kAdvice);
      if (score) face.score = value(*score, 1);
      faces.push_back(face);
    }
    for (auto& [id, faces] : faces_)
      std::stable_sort(faces.begin(), faces.end(),
                       [](const Face& a, const Face& b) { return a.score > b.score; });
  }

  // Whether all columns of a group are there; some of them is an error.
  template <std::size_t n>
  static bool complete(const std::array<std::optional<std::size_t>, n>& group, const Cells& cells,
                       std::string_view what) {
    const auto there =
        std::count_if(group.begin(), group.end(), [](const auto& c) { return c.has_value(); });
    if (there == static_cast<std::ptrdiff_t>(n)) return true;
    if (there > 0)
      fail(cells.name, fmt::format("of the columns {} only {} are there", what, there), kAdvice);
    return false;
  }

  static Box extent(const Landmarks& landmarks) {
    constexpr float far = std::numeric_limits<float>::max();
    Box box{far, far, -far, -far};
    for (const Point& p : landmarks)
      box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x),
             std::max(box.y1, p.y)};
    return box;
  }

  std::string key(std::string_view name) const {
    return compared_name(options_.match == "stem" ? stem_of(name) : std::string(name));
  }

  std::vector<Face> find(const Image&, std::string_view sample_id) const override {
    if (sample_id.empty())
      throw std::invalid_argument("the detector 'given' needs the sample's name");
    const auto found = faces_.find(key(sample_id));
    return found == faces_.end() ? std::vector<Face>{} : found->second;
  }

  GivenOptions options_;
  std::string sha256_;
  std::string first_;                                         // the first name of the file
  std::unordered_map<std::string, std::vector<Face>> faces_;  // of every name, with or without
};

}  // namespace

void GivenOptions::describe(OptionsBuilder<GivenOptions>& o) {
  o.name("GivenOptions", "Boxes and landmarks from a file.");
  o.field("file", &GivenOptions::file, "the file").required = true;
  o.field("columns", &GivenOptions::columns,
          "names of the columns of a file without a header line; empty = the first line has them");
  o.field("rename", &GivenOptions::rename,
          "columns that the file calls otherwise, as OURS=THEIRS: name=FILE, x=FACE_X");
  o.choice("separator", &GivenOptions::separator, "between cells", {"comma", "tab", "blanks"});
  o.choice("match", &GivenOptions::match,
           "names: exact, or stem = without extension (and without any #k)", {"exact", "stem"});
  o.field("scale", &GivenOptions::scale,
          "coordinates are multiplied by it (0.6 for a 250-pixel list on 150-pixel images)", 1e-6,
          1e6);
}

std::unique_ptr<Detector> make_given(const GivenOptions& options) {
  return std::make_unique<Given>(options);
}

std::string face_csv_header() {
  std::vector<std::string> fields{"name", "status", "x0", "y0", "x1", "y1", "score"};
  fields.insert(fields.end(), kLandmarkColumns.begin(), kLandmarkColumns.end());
  return csv_record(fields);
}

std::string face_csv_record(std::string_view name, const Face& face) {
  std::vector<std::string> fields{std::string(name),
                                  std::string(sample_status_name(SampleStatus::ok))};
  for (const float v : {face.box.x0, face.box.y0, face.box.x1, face.box.y1, face.score})
    fields.push_back(fmt::format("{}", v));
  for (const Point& p : face.landmarks)
    for (const float v : {p.x, p.y})
      fields.push_back(face.has_landmarks ? fmt::format("{}", v) : std::string());
  return csv_record(fields);
}

Json face_json(const Face& face) {
  const auto number = [](float v) { return number_of(fmt::format("{}", v)).value_or(NAN); };
  Json landmarks;
  for (const Point& p : face.landmarks)
    if (face.has_landmarks) landmarks.push_back({number(p.x), number(p.y)});
  const Box& box = face.box;
  return {{"box", {number(box.x0), number(box.y0), number(box.x1), number(box.y1)}},
          {"score", number(face.score)},
          {"landmarks", landmarks}};
}

Face face_of_json(const Json& json) {
  Face face;
  const auto box = json.at("box").get<std::array<float, 4>>();
  face.box = {box[0], box[1], box[2], box[3]};
  face.score = json.at("score");
  const Json& landmarks = json.at("landmarks");
  face.has_landmarks = !landmarks.is_null();
  for (std::size_t k = 0; face.has_landmarks && k < face.landmarks.size(); ++k) {
    const auto point = landmarks.at(k).get<std::array<float, 2>>();
    face.landmarks[k] = {point[0], point[1]};
  }
  return face;
}

std::string faceless_csv_record(std::string_view name, SampleStatus status) {
  std::vector<std::string> fields{std::string(name), std::string(sample_status_name(status))};
  fields.resize(fields.size() + 5 + kLandmarkColumns.size());
  return csv_record(fields);
}

}  // namespace facebench
