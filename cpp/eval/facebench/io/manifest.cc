#include "facebench/io/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/utsname.h>
#include <zlib.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/job.h"
#include "facebench/core/version.h"
#include "facebench/io/confine.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr const char *kHashKey = "content_sha256", *kCircumstanceHashKey = "circumstance_sha256";
constexpr const char* kChanged = "The file was changed after it was written";

Json cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return nullptr;
}

}  // namespace

Json manifest_to_json(const Manifest& manifest) {
  return {{"content", manifest.content},
          {kHashKey, content_hash(manifest)},
          {"circumstance", manifest.circumstance},
          {kCircumstanceHashKey, circumstance_hash(manifest)}};
}

Manifest manifest_from_json(const Json& value, std::string_view where) {
  const auto part = [&](const char* key) {
    if (!value.is_object() || !value.contains(key) || !value[key].is_object())
      fail(where, fmt::format("is not a manifest: it has no object '{}'", key));
    return value[key];
  };
  Manifest manifest{part("content"), part("circumstance"), "", ""};
  for (const auto& [key, member] : value.items()) {
    if (key == "content" || key == "circumstance") continue;
    if (key != kHashKey && key != kCircumstanceHashKey)
      fail(where, fmt::format("is not a manifest: it has a part '{}'", key), kChanged);
    if (!member.is_string() || member.get_ref<const std::string&>().empty())
      fail(where, fmt::format("'{}' is not a hash", key), kChanged);
    (key == kHashKey ? manifest.recorded_hash : manifest.recorded_circumstance_hash) =
        member.get<std::string>();
  }
  return manifest;
}

void check_content_hash(const Manifest& manifest, std::string_view where) {
  if (manifest.recorded_hash.empty())
    fail(where, fmt::format("lacks the hash of its content ('{}')", kHashKey), kChanged);
  if (const std::string now = content_hash(manifest); now != manifest.recorded_hash)
    fail(where,
         fmt::format("its content has SHA-256 {}, and was written with {}", now,
                     manifest.recorded_hash),
         kChanged);
}

Manifest read_manifest(const std::filesystem::path& path) {
  Manifest manifest =
      manifest_from_json(parse_file_json(read_file(path, 64 << 20), path.string()), path.string());
  check_content_hash(manifest, path.string());
  return manifest;
}

void write_manifest(const std::filesystem::path& path, const Manifest& manifest) {
  write_file(path, pretty_json(manifest_to_json(manifest)));
}

std::string content_hash(const Manifest& manifest) {
  return sha256_hex(canonical_json(manifest.content));
}

std::string circumstance_hash(const Manifest& manifest) {
  return sha256_hex(canonical_json(manifest.circumstance));
}

Json content_basics() {
  return {{"facebench", version()}, {"compiler", compiler()}, {"isa", isa_name(active_isa())}};
}

Json circumstance_of_this_process(std::string_view command, int threads) {
  utsname system{};
  ::uname(&system);
  double load[3] = {};
  Json load_averages = nullptr;
  if (::getloadavg(load, 3) == 3) load_averages = {load[0], load[1], load[2]};
  return {
      {"command", command.empty() ? Json(nullptr) : Json(command)},
      {"host", system.nodename},
      {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
      {"cpu", cpu_model()},
      {"processors", available_processors()},
      {"threads", threads},
      {"load", load_averages},
      {"started", utc_now()},
      {"libraries",
       {{"hdf5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)},
        {"zlib", zlibVersion()}}},
  };
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace facebench
