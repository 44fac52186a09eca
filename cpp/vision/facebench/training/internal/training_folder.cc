#include "facebench/training/internal/training_folder.h"

#include "facebench/core/error.h"
#include "facebench/training/checkpoint.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

bool holds_a_training(const fs::path& out) {
  return fs::exists(out / "model.safetensors") || fs::exists(out / "log.jsonl") ||
         !list_checkpoints(out / "checkpoints").empty();
}

// What is written in place, or removed there: not where somebody else's folder says.
void refuse_links(const fs::path& out) {
  for (const char* name : {"checkpoints", "log.jsonl"})
    if (fs::is_symlink(fs::symlink_status(out / name)))
      fail((out / name).string(), "is a link, and a training does not write through it",
           "Remove it, or train into the folder that it leads to");
}

// A folder that holds no training may hold other things, but nothing that a training would replace.
void refuse_to_replace(const fs::path& out) {
  for (const char* name : {"run.json", "best.safetensors", "training.csv", "report.html"})
    if (fs::exists(fs::symlink_status(out / name)))
      fail((out / name).string(), "is not of a training, which would replace it",
           "Choose another folder");
}

}  // namespace

void refuse_folder(const fs::path& out, bool resume) {
  refuse_links(out);
  const bool holds = holds_a_training(out);
  if (holds && !resume)
    fail(out.string(), "the folder holds a training already",
         "Resume it (resume, --resume), or choose another folder");
  if (!holds) refuse_to_replace(out);
}

}  // namespace facebench
