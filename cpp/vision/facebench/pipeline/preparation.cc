#include "facebench/pipeline/preparation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/detection/selection.h"

namespace facebench {
namespace {

constexpr const char* kDefaultCrop = "arcface112";

// "key=value" texts as an object typed by the detector's own schema, where it has one.
void add_detector_options(Json& object, const OptionsSchema* schema,
                          const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument("detector option '" + text + "' must be key=value");
    const std::string key = text.substr(0, equals);
    // The earlier source decides.
    if (object.contains(key)) continue;
    std::string value = text.substr(equals + 1);
    object[key] = schema ? json_of_option(schema->at(key).parse(value)) : Json(std::move(value));
  }
}

const CropEntry& crop_named(const std::string& name) {
  if (name == "none")
    throw std::invalid_argument(
        "there is no crop 'none'; of images that are cropped already the whole is taken with the "
        "detector 'none'");
  return crops().at(name);
}

}  // namespace

void PreparationOptions::describe(OptionsBuilder<PreparationOptions>& o) {
  o.name("PreparationOptions", "From a photograph to a crop; what is unset is left to the model.");
  o.field("detector", &PreparationOptions::detector,
          "what finds the faces, or 'none': the whole image (see: facebench list detectors)");
  o.field("detector_options", &PreparationOptions::detector_options,
          "options of the detector as key=value, e.g. mode=facenet");
  o.field("selection", &PreparationOptions::selection,
          "which of several faces (see: facebench list selections)");
  o.field("crop", &PreparationOptions::crop, "how the face is cut out (see: facebench list crops)");
  o.field("crop_size", &PreparationOptions::crop_size,
          "pixels, one number or width and height; default: the crop's own", 1, 4096);
  o.field("warp", &PreparationOptions::warp,
          "how aligned crops round positions between pixels: opencv4 (default), exact");
}

PreparationOptions preparation_of(const BatchModelInfo& model) {
  PreparationOptions options;
  if (!model.prepared) return options;
  const ModelOptions& from = model.options;
  const auto recorded = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  options.detector = recorded(from.detector);
  if (!from.detector_mode.empty()) options.detector_options.emplace({"mode=" + from.detector_mode});
  options.selection = recorded(from.selection);
  options.crop = recorded(from.crop);
  options.crop_size = std::vector<std::int64_t>{from.image_width.value_or(model.input.width),
                                                from.image_height.value_or(model.input.height)};
  return options;
}

PreparationOptions preparation_of(const ProtocolSpec& spec, const std::filesystem::path& lists,
                                  std::span<const PreparationSource> others) {
  PreparationOptions options;
  if (!spec.reader->images(lists).empty()) {
    options.detector = "none";
    return options;
  }
  std::string crop = kDefaultCrop;
  for (const PreparationSource& source : others)
    if (source.options.crop) {
      crop = *source.options.crop;
      break;
    }
  if (spec.faces.file.empty() || !std::filesystem::is_regular_file(lists / spec.faces.file) ||
      (crop_named(crop).aligned &&
       !(spec.faces.landmarks && crop_named(crop).kind == LandmarkKind::eyes_and_mouth)))
    return options;
  options.detector = "given";
  options.detector_options.emplace({"file=" + (lists / spec.faces.file).string(),
                                    fmt::format("rename={}", fmt::join(spec.faces.columns, ",")),
                                    fmt::format("columns={}", fmt::join(spec.faces.names, ",")),
                                    "separator=" + spec.faces.separator});
  return options;
}

Preparation resolve_preparation(std::span<const PreparationSource> sources) {
  Preparation result;
  // What the first source says that says something.
  const auto decide = [&](const char* part, auto member) {
    for (const PreparationSource& source : sources) {
      if (const auto& value = source.options.*member) {
        result.decided_by[part] = source.who;
        return value;
      }
    }
    result.decided_by[part] = "default";
    return std::decay_t<decltype(PreparationOptions{}.*member)>();
  };

  const std::string detector = decide("detector", &PreparationOptions::detector).value_or("mtcnn");
  if (detector != "none") {
    if (const std::string& who = result.decided_by["detector"]; who != "caller")
      check_stated_detector(detector, who);
    const DetectorEntry entry = detector_named(detector);
    Json options = Json::object();
    for (const PreparationSource& source : sources) {
      const bool other_detector = source.options.detector && source.options.detector != detector;
      if (!other_detector && source.options.detector_options)
        add_detector_options(options, entry.schema, *source.options.detector_options);
    }
    result.detector = entry.make(options);
  }
  result.selection = decide("selection", &PreparationOptions::selection).value_or("nearest_center");
  selection_rules().at(result.selection);
  result.crop.name = decide("crop", &PreparationOptions::crop).value_or(kDefaultCrop);
  crop_named(result.crop.name);
  if (result.detector) require_landmarks(detector, result.crop.name);
  const auto size = decide("crop_width", &PreparationOptions::crop_size);
  result.decided_by["crop_height"] = result.decided_by["crop_width"];
  if (size) {
    if (size->empty() || size->size() > 2)
      throw std::invalid_argument("crop_size is one number, or width and height");
    result.crop.width = static_cast<int>(size->front());
    result.crop.height = static_cast<int>(size->back());
  }
  for (const PreparationSource& source : sources)
    if (source.options.warp) {
      result.crop.warp = source.options.warp;
      result.decided_by["warp"] = source.who;
      break;
    }
  resolve_crop(result.crop);  // refuses what does not go together
  return result;
}

}  // namespace facebench
