#include "facebench/pipeline/preparation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "facebench/detection/selection.h"

namespace facebench {
namespace {

constexpr const char* kDefaultCrop = "arcface112";

// "key=value" texts as an object typed by the detector's own schema.
void add_detector_options(Json& object, const OptionsSchema& schema,
                          const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument("detector option '" + text + "' must be key=value");
    const std::string key = text.substr(0, equals);
    // The earlier source decides.
    if (object.contains(key)) continue;
    const OptionField& field = schema.at(key);
    object[key] = json_of_option(parse_option(key, text.substr(equals + 1), field.default_value));
  }
}

}  // namespace

PreparationOptions preparation_of(const Model& model) {
  PreparationOptions options;
  options.detector = model.options.detector;
  if (!model.options.detector_mode.empty())
    options.detector_options = {"mode=" + model.options.detector_mode};
  options.selection = model.options.selection;
  options.crop = model.options.crop;
  options.crop_width = model.image_shape().width;
  options.crop_height = model.image_shape().height;
  return options;
}

PreparationOptions preparation_of(const ProtocolSpec& spec, const std::filesystem::path& lists,
                                  std::span<const PreparationSource> others) {
  PreparationOptions options;
  std::string crop = kDefaultCrop;
  for (const PreparationSource& source : others)
    if (!source.options.crop.empty()) {
      crop = source.options.crop;
      break;
    }
  if (spec.faces.file.empty() || !std::filesystem::is_regular_file(lists / spec.faces.file) ||
      (crops().at(crop).aligned && !spec.faces.landmarks))
    return options;
  options.detector = "given";
  options.detector_options = {"file=" + (lists / spec.faces.file).string(),
                              fmt::format("rename={}", fmt::join(spec.faces.columns, ","))};
  return options;
}

Preparation resolve_preparation(std::span<const PreparationSource> sources) {
  Preparation result;
  // The first source for which `get` is not empty; the fallback where there is none.
  const auto decide = [&](const char* part, auto get, auto fallback) {
    for (const PreparationSource& source : sources) {
      if (auto value = get(source.options); value != decltype(value){}) {
        result.decided_by[part] = source.who;
        return value;
      }
    }
    result.decided_by[part] = "default";
    return fallback;
  };

  const std::string detector = decide(
      "detector", [](const PreparationOptions& o) { return o.detector; }, std::string("mtcnn"));
  if (detector != "none") {
    const DetectorEntry& entry = detectors().at(detector);
    Json options = Json::object();
    for (const PreparationSource& source : sources) {
      const bool other_detector =
          !source.options.detector.empty() && source.options.detector != detector;
      if (!other_detector)
        add_detector_options(options, *entry.schema, source.options.detector_options);
    }
    result.detector = entry.make(options);
  }
  result.selection = decide(
      "selection", [](const PreparationOptions& o) { return o.selection; },
      std::string("nearest_center"));
  selection_rules().at(result.selection);
  result.crop.name = decide(
      "crop", [](const PreparationOptions& o) { return o.crop; }, std::string(kDefaultCrop));
  crops().at(result.crop.name);
  result.crop.width = decide(
      "crop_width", [](const PreparationOptions& o) { return o.crop_width; }, 0);
  result.crop.height = decide(
      "crop_height", [](const PreparationOptions& o) { return o.crop_height; }, 0);
  return result;
}

}  // namespace facebench
