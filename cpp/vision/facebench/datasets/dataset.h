#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/images/image_location.h"
#include "facebench/io/json.h"

namespace facebench {

struct Sample {
  std::string id;          // path relative to the data set's root, with '/'; a name in an archive
  ImageLocation image;     // where the file should be, or the place in an archive
  std::int32_t label = 0;  // index into Dataset::label_names
};

// Images of people, in a fixed order. Nothing is decoded or opened yet.
struct Dataset {
  std::string name;
  std::filesystem::path root;
  std::vector<Sample> samples;
  std::vector<std::string> label_names;  // one a person
  Json excluded;                         // what was left out of it (exclusion.h); null = nothing
  std::vector<std::string> damaged;      // entries of an archive left out, a sentence each
  std::vector<std::string> notes;        // what is odd about it, a sentence each
  std::int64_t unlabelled = 0;  // images of an archive without a label, each a person of its own
  Json archive;                 // of ArchiveOptions those that were given; null = none
  // Of a folder: what is not an image that is read (WebP, BMP, lists), and images outside of the
  // people's folders.
  std::vector<std::string> passed_over;
};

// The layout of Labeled Faces in the Wild: ROOT/NAME/NAME_0001.jpg; where ROOT/images exists, the
// people are looked for there. Files and folders in natural order. Throws Error where there is no
// image, or an image file is not named after its folder.
Dataset read_lfw_folder(const std::filesystem::path& root);

// One folder for each person with any images in it (image_file_formats(), told by extension, else
// by the first bytes); folders inside of a person's folder belong to the person. Folders whose
// names differ in their Unicode form alone are one person's. Other files are passed over, and
// listed; litter (is_litter) is counted in a note. Where `images` is the only folder with images
// and holds folders, these are the people, and a note says so. People and images in natural order
// (2 before 10). `level` "1": the people are the folders in ROOT, whatever is in them; "2": they
// are the folders in those, which are parts of the set (train/ann, test/ann), and one in several is
// one person; empty: it is looked at (folder_levels.h), and said where it is open. Throws Error
// where there is no image, and for parts of a data set without a level; std::invalid_argument for
// another level. `split`: the people are those in these outer folders alone, "train" or
// "train+val", level "2"; Error where there is no such folder.
Dataset read_image_folder(const std::filesystem::path& root, std::string_view level = {},
                          std::string_view split = {});

// The named samples in the given order, each once (the first mention counts). Names match ids
// exactly or, with `by_stem`, without their extensions; a name that matches several samples is an
// Error. A name that is not there becomes a sample whose file is missing (its person is the name's
// folder), so that it is counted later on.
Dataset select_samples(const Dataset& dataset, std::span<const std::string> names,
                       bool by_stem = false);

// The images of an archive (io/archive.h), by its ending and first bytes or by the named format;
// people are the labels in ascending order, called by their names or numbers; names without numbers
// are in natural order. Without labels each image's person is the folder in its name, else the
// image itself, which is counted in Dataset::unlabelled and said in a note. Up to `skip_damaged`
// entries that are damaged are left out and listed in Dataset::damaged. Throws Error for one more,
// for a file that is no such archive, and where no image is left.
Dataset read_archive(const std::filesystem::path& path, std::int64_t skip_damaged = 0,
                     std::string_view format = {}, const ArchiveOptions& options = {});

struct DatasetReader {
  std::string name;
  std::string doc;
  // `skip_damaged` and `options` are of archives; a file that cannot be read is found where it is
  // opened.
  std::function<Dataset(const std::filesystem::path& root, std::int64_t skip_damaged,
                        const ArchiveOptions& options)>
      read;
};
// lfw, folder, and every format of image_archives().
const Table<DatasetReader>& dataset_readers();
// Throws std::invalid_argument for an unknown name (did you mean) and a negative number, Error as
// the reader does.
Dataset read_dataset(std::string_view name, const std::filesystem::path& root,
                     std::int64_t skip_damaged = 0, const ArchiveOptions& options = {});

}  // namespace facebench
