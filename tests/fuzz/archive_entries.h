#pragma once

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"

// Everything that an archive can be asked, of every entry; what is damaged throws Error.
inline void read_all_entries(const facebench::ImageArchive& archive) {
  archive.notes();
  archive.label_places();
  for (std::int64_t i = 0; i < archive.size(); ++i) {
    try {
      archive.where(i);
      archive.label(i);
      archive.person(i);
      archive.name(i);
      archive.read(i);
    } catch (const facebench::Error&) {
    }
  }
}
