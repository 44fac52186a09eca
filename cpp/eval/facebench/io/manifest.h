#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "facebench/io/json.h"

namespace facebench {

// How a result was made, in two parts. Equal content means equal numbers (with the same build and
// instruction set, to the bit). The circumstance (time, machine, folders) decides no number, so it
// is never part of a file that is hashed.
struct Manifest {
  // Resolved configuration, SHA-256 of every list, pack, weights and spec, counts, seeds, ...
  Json content = Json::object();
  // Command, host, threads, times, load, where each input lay, ...
  Json circumstance = Json::object();
  // What the file that was read says content_hash() and circumstance_hash() are; empty where it
  // says nothing (older runs).
  std::string recorded_hash, recorded_circumstance_hash;
};

// {"content": ..., "content_sha256": content_hash(), "circumstance": ..., "circumstance_sha256":
// circumstance_hash()} and back. Throws Error naming `where` for anything else, also for a further
// key; does not compare the hashes.
Json manifest_to_json(const Manifest& manifest);
Manifest manifest_from_json(const Json& value, std::string_view where);
// Throws Error where the content is not the one that its hash was written for, or has no hash.
void check_content_hash(const Manifest& manifest, std::string_view where);
// Reads, and checks the content's hash. The circumstance decides no number: verify compares its
// hash.
Manifest read_manifest(const std::filesystem::path& path);
void write_manifest(const std::filesystem::path& path, const Manifest& manifest);
// SHA-256 of the canonical JSON of the content, and of the circumstance.
std::string content_hash(const Manifest& manifest);
std::string circumstance_hash(const Manifest& manifest);

// What every content has: "facebench" (version), "compiler", "isa" (the instruction set in use).
Json content_basics();
// What every circumstance has: "command" (null where not given), "host", "system", "cpu",
// "processors" (that this process may use), "threads" (0 = all), "load" (three averages), "started"
// (now, see utc_now), "libraries" (their versions).
Json circumstance_of_this_process(std::string_view command = {}, int threads = 0);
// ISO 8601 with seconds, e.g. "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace facebench
