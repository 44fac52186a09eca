# cmake -DOUTPUT=file.cc -DROOT=folder -P embed.cmake: every *.toml below ROOT as a raw string, keyed
# by its path relative to ROOT without ".toml" ("lfw", "recipes/demo", "published/wang-guo-2019").
file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/*.toml")
list(SORT files)
set(text "// Generated from protocols/; do not edit.\n#include \"facebench/protocols/embedded.h\"\n\n")
string(APPEND text "namespace facebench {\n\nstd::span<const EmbeddedFile> embedded_files() {\n")
string(APPEND text "  static constexpr EmbeddedFile files[] = {\n")
foreach(file ${files})
  file(READ "${ROOT}/${file}" content)
  string(REGEX REPLACE "\\.toml$" "" name "${file}")
  string(APPEND text "      {\"${name}\", R\"__toml__(${content})__toml__\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\n}  // namespace facebench\n")
file(WRITE "${OUTPUT}" "${text}")
