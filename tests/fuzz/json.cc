// JSON, written again: what is written reads as the same value.
// Sources: cpp/eval/facebench/io/json.cc
// Not of the reader: refuse_json_use options_to_json options_from_json json_of_option
#include "facebench/io/json.h"

#include <cstdlib>

#include "ask.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(json, bytes) {
  const facebench::Json value = facebench::parse_json(bytes, "fuzz");
  const std::string text = facebench::canonical_json(value);
  if (facebench::parse_json(text, "fuzz") != value) std::abort();
  if (facebench::parse_json(facebench::pretty_json(value), "fuzz") != value) std::abort();
  ask_anything([&] { facebench::option_of_json("fuzz", value); });
  for (const facebench::Json& member : value)
    ask_anything([&] { facebench::option_of_json("fuzz", member); });
}
