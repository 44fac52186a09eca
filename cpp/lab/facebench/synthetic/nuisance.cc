#include "facebench/synthetic/nuisance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "facebench/core/options.h"

namespace facebench {
namespace {

constexpr std::array<std::string_view, 6> kDisguises = {"none", "glasses", "sunglasses",
                                                        "mask", "scarf",   "hat"};

double sign(Random& random) { return random.below(2) == 0 ? -1 : 1; }
double clipped_normal(Random& random, double sd, double limit) {
  return std::clamp(random.normal() * sd, -limit, limit);
}

// The variation that every photograph has.
FaceNuisance ordinary(Random& r) {
  FaceNuisance n;
  n.yaw = r.uniform(-12, 12);
  n.pitch = r.uniform(-7, 7);
  n.roll = r.uniform(-5, 5);
  n.light_azimuth = r.uniform(-45, 45);
  n.light_elevation = r.uniform(10, 50);
  n.key_light = r.uniform(0.6, 0.95);
  n.ambient_light = r.uniform(0.25, 0.45);
  n.exposure = r.uniform(0.85, 1.2);
  n.warmth = r.uniform(-0.6, 0.6);
  n.smile = r.uniform(-0.1, 0.35);
  n.brow_raise = r.uniform(-0.25, 0.25);
  n.eyelids = r.uniform(0, 0.2);
  n.gaze_x = r.uniform(-0.5, 0.5);
  n.gaze_y = r.uniform(-0.4, 0.4);
  n.age = r.uniform(0.2, 0.4);
  n.face_size = r.uniform(0.19, 0.25);
  n.center_x = r.uniform(0.46, 0.54);
  n.center_y = r.uniform(0.43, 0.50);
  n.background_seed = r.next_u32();
  n.disguise_seed = r.next_u32();
  n.blur = r.uniform(0.3, 0.8);
  n.noise = r.uniform(1, 5);
  n.noise_seed = r.next_u32();
  n.jpeg_quality = 70 + static_cast<std::int64_t>(r.below(26));
  return n;
}

void turn(FaceNuisance& n, Random& r, double low, double high) {
  n.yaw = sign(r) * r.uniform(low, high);
}

void wild(FaceNuisance& n, Random& r) {
  n.yaw = clipped_normal(r, 18, 50);
  n.pitch = clipped_normal(r, 6, 15);
  n.smile = r.uniform(-0.1, 1.0);
  n.mouth_open = r.uniform() < 0.3 ? r.uniform(0.1, 0.6) : 0;
  n.light_azimuth = r.uniform(-65, 65);
  n.age = r.uniform() < 0.1 ? r.uniform(0.5, 0.9) : r.uniform(0.15, 0.45);
  if (r.uniform() < 0.12)
    n.disguise = r.below(4) == 0 ? "sunglasses" : "glasses";
  else if (r.uniform() < 0.04)
    n.disguise = "hat";
  if (r.uniform() < 0.1) n.blur = r.uniform(0.8, 1.6);
}

}  // namespace

std::string_view disguise_name(Disguise d) { return kDisguises[static_cast<std::size_t>(d)]; }
std::string_view age_group_name(AgeGroup g) { return g == AgeGroup::young ? "young" : "mature"; }
std::string_view quality_group_name(QualityGroup g) {
  return g == QualityGroup::low ? "low" : (g == QualityGroup::middle ? "middle" : "high");
}

void FaceNuisance::describe(OptionsBuilder<FaceNuisance>& o) {
  using N = FaceNuisance;
  o.name("FaceNuisance", "Everything that differs between two images of one synthetic person.");
  o.field("yaw", &N::yaw, "degrees, positive turns the nose to the right of the image", -90, 90);
  o.field("pitch", &N::pitch, "degrees, positive raises the chin", -45, 45);
  o.field("roll", &N::roll, "degrees, positive turns clockwise", -60, 60);
  o.field("light_azimuth", &N::light_azimuth, "degrees, positive comes from the right", -180, 180);
  o.field("light_elevation", &N::light_elevation, "degrees above the horizon", -90, 90);
  o.field("key_light", &N::key_light, "strength of the main light", 0, 4);
  o.field("ambient_light", &N::ambient_light, "strength of the light from everywhere", 0, 4);
  o.field("exposure", &N::exposure, "exposure of the camera", 0.01, 10);
  o.field("warmth", &N::warmth, "colour of the main light, cold to warm", -1, 1);
  o.field("smile", &N::smile, "corners of the mouth down to up", -0.5, 1);
  o.field("mouth_open", &N::mouth_open, "closed to open mouth", 0, 1);
  o.field("brow_raise", &N::brow_raise, "frown to raised brows", -1, 1);
  o.field("eyelids", &N::eyelids, "open to closed eyes", 0, 1);
  o.field("gaze_x", &N::gaze_x, "eyes to the left or right", -1, 1);
  o.field("gaze_y", &N::gaze_y, "eyes up or down", -1, 1);
  o.field("age", &N::age, "0 child, 0.3 adult, 1 old", 0, 1);
  o.choice("disguise", &N::disguise, "what covers the face",
           {kDisguises.begin(), kDisguises.end()});
  o.field("face_size", &N::face_size, "half the head's width in parts of the image's", 0.02, 2);
  o.field("center_x", &N::center_x, "point between the eyes, in parts of the width", -1, 2);
  o.field("center_y", &N::center_y, "point between the eyes, in parts of the height", -1, 2);
  o.field("background_seed", &N::background_seed, "background and clothing", 0, 4294967295.0);
  o.field("disguise_seed", &N::disguise_seed, "shape and colour of the disguise", 0, 4294967295.0);
  o.field("blur", &N::blur, "standard deviation, pixels of a 160-pixel image", 0, 20);
  o.field("resolution", &N::resolution, "scale to which detail was lost", 0.02, 1);
  o.field("noise", &N::noise, "standard deviation in 8-bit steps", 0, 100);
  o.field("noise_seed", &N::noise_seed, "which noise", 0, 4294967295.0);
  o.field("jpeg_quality", &N::jpeg_quality, "of the file that is written", 1, 100);
}

Disguise disguise_of(const FaceNuisance& n) {
  const std::vector<std::string> known(kDisguises.begin(), kDisguises.end());
  return static_cast<Disguise>(index_of_name("disguise", n.disguise, known));
}

AgeGroup age_group_of(const FaceNuisance& n) {
  return n.age < 0.5 ? AgeGroup::young : AgeGroup::mature;
}

double quality_score(const FaceNuisance& n) {
  const double sharp = 1 / (1 + 0.12 * n.blur * n.blur);
  const double root = std::sqrt(std::clamp(n.resolution, 0.0, 1.0));
  const double detail = root * std::sqrt(root);
  const double clean = 1 / (1 + n.noise * n.noise / 500);
  const double whole = std::min(1.0, 0.5 + static_cast<double>(n.jpeg_quality) / 100);
  const double front = 1 - 0.5 * std::min(1.0, std::abs(n.yaw) / 90);
  const Disguise d = disguise_of(n);
  const double bare = d == Disguise::none || d == Disguise::glasses || d == Disguise::hat ? 1 : 0.7;
  return 100 * sharp * detail * clean * whole * front * bare;
}

QualityGroup quality_group(double score) {
  return score < 30 ? QualityGroup::low : (score < 60 ? QualityGroup::middle : QualityGroup::high);
}

const Table<NuisanceKind>& nuisance_kinds() {
  using N = FaceNuisance;
  static const Table<NuisanceKind> table(
      "kind of photograph",
      {{"frontal", "frontal, neutral, good quality", [](N&, Random&) {}},
       {"wild", "as photographers of public people take them; the images of the LFW-like set",
        wild},
       {"yaw30", "turned by 25 to 35 degrees", [](N& n, Random& r) { turn(n, r, 25, 35); }},
       {"yaw45", "three-quarter view, 40 to 50 degrees",
        [](N& n, Random& r) { turn(n, r, 40, 50); }},
       {"yaw60", "nearly in profile, 55 to 60 degrees",
        [](N& n, Random& r) { turn(n, r, 55, 60); }},
       {"light", "hard light from one side",
        [](N& n, Random& r) {
          n.light_azimuth = sign(r) * r.uniform(55, 85);
          n.ambient_light = r.uniform(0.12, 0.2);
        }},
       {"smile", "broad smile, mouth open",
        [](N& n, Random& r) {
          n.smile = r.uniform(0.6, 1);
          n.mouth_open = r.uniform(0.1, 0.5);
        }},
       {"old", "aged", [](N& n, Random& r) { n.age = r.uniform(0.75, 1); }},
       {"glasses", "glasses", [](N& n, Random&) { n.disguise = "glasses"; }},
       {"sunglasses", "dark glasses", [](N& n, Random&) { n.disguise = "sunglasses"; }},
       {"mask", "surgical mask over nose and mouth", [](N& n, Random&) { n.disguise = "mask"; }},
       {"scarf", "scarf over the mouth", [](N& n, Random&) { n.disguise = "scarf"; }},
       {"hat", "woollen hat", [](N& n, Random&) { n.disguise = "hat"; }},
       {"blur", "out of focus", [](N& n, Random& r) { n.blur = r.uniform(2.5, 3.5); }},
       {"low_resolution", "small, compressed and noisy", [](N& n, Random& r) {
          n.resolution = r.uniform(0.13, 0.2);
          n.noise = r.uniform(4, 10);
          n.jpeg_quality = 15 + static_cast<std::int64_t>(r.below(25));
        }}});
  return table;
}

FaceNuisance make_nuisance(std::string_view kind, Random& random) {
  const NuisanceKind& entry = nuisance_kinds().at(kind);
  FaceNuisance nuisance = ordinary(random);
  entry.change(nuisance, random);
  return nuisance;
}

}  // namespace facebench
