#include <fmt/format.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "arrays.h"
#include "common.h"
#include "facebench/archives/archive.h"
#include "facebench/archives/archive_writer.h"
#include "facebench/archives/remote.h"
#include "facebench/archives/shard_names.h"
#include "facebench/archives/table_archive.h"
#include "facebench/core/error.h"
#include "facebench/datasets/check.h"
#include "facebench/datasets/convert.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/decoded_images.h"
#include "facebench/datasets/pack.h"
#include "facebench/images/decode.h"
#include "facebench/io/image_files.h"
#include "images.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

// An index of Python's, from the end where it is negative.
std::int64_t index_within(std::int64_t index, std::int64_t size) {
  const std::int64_t k = index < 0 ? index + size : index;
  if (k < 0 || k >= size) throw py::index_error(fmt::format("index {} of {} images", index, size));
  return k;
}

void bind_folders(py::module_& m) {
  py::class_<Sample>(m, "Sample", "One image of a data set: id, path, label.")
      .def_readonly("id", &Sample::id, "path relative to the data set's root")
      .def_property_readonly(
          "path", [](const Sample& s) { return s.image.path(); }, "the file, or the archive")
      .def_property_readonly(
          "where", [](const Sample& s) { return s.image.where(); },
          "the file, or the archive and its record")
      .def(
          "read", [](const Sample& s) { return py::bytes(s.image.read()); },
          "the bytes of the image file")
      .def_readonly("label", &Sample::label, "index into Dataset.label_names")
      .def("__repr__",
           [](const Sample& s) { return fmt::format("Sample(id='{}', label={})", s.id, s.label); });
  py::class_<Dataset>(m, "Dataset", "Images of people, in a fixed order.")
      .def_readonly("name", &Dataset::name)
      .def_readonly("root", &Dataset::root)
      .def_readonly("samples", &Dataset::samples)
      .def_readonly("label_names", &Dataset::label_names)
      .def_readonly("damaged", &Dataset::damaged, "entries of an archive that were left out")
      .def_readonly("notes", &Dataset::notes, "what is odd about it, a sentence each")
      .def_readonly("unlabelled", &Dataset::unlabelled,
                    "images of an archive without a label, each a person of its own")
      .def_readonly("passed_over", &Dataset::passed_over,
                    "files of a folder that are not read: no images, or outside of the "
                    "people's folders")
      .def("__len__", [](const Dataset& d) { return d.samples.size(); })
      .def(
          "__getitem__",
          [](const Dataset& d, std::int64_t index) {
            const std::int64_t k = index_within(index, std::ssize(d.samples));
            const Sample& sample = d.samples[static_cast<std::size_t>(k)];
            const std::string bytes = sample.image.read();
            Image image = decode_image(std::as_bytes(std::span(bytes)), {}, sample.image.where());
            return py::make_tuple(image_to_numpy(std::move(image)), sample.label);
          },
          py::arg("index"), "(uint8 (H, W, 3), label) of an image, decoded.")
      .def("__repr__", [](const Dataset& d) {
        return fmt::format("Dataset('{}', {} images of {} people)", d.name, d.samples.size(),
                           d.label_names.size());
      });
  m.def(
      "is_litter", [](const std::string& name) { return is_litter(name); }, py::arg("name"),
      "Whether a file or folder of this name is what systems and other programs leave in folders.");
  m.def("read_lfw_folder", &read_lfw_folder, py::arg("root"));
  m.def("read_image_folder", &read_image_folder, py::arg("root"), py::arg("level") = "",
        py::arg("split") = "");
  m.def(
      "read_dataset",
      [](const std::string& name, const std::filesystem::path& root, std::int64_t skip_damaged,
         const std::string& label, const std::string& split) {
        return read_dataset(name, root, skip_damaged, {label, split});
      },
      py::arg("name"), py::arg("root"), py::arg("skip_damaged") = 0, py::arg("label") = "",
      py::arg("split") = "");
  m.def(
      "read_archive",
      [](const std::filesystem::path& path, std::int64_t skip_damaged, const std::string& format,
         const std::string& label, const std::string& split) {
        return read_archive(path, skip_damaged, format, {label, split});
      },
      py::arg("path"), py::arg("skip_damaged") = 0, py::arg("format") = "", py::arg("label") = "",
      py::arg("split") = "");
  m.def("dataset_readers", [] { return table_docs(dataset_readers()); });
  m.def(
      "select_samples",
      [](const Dataset& d, const std::vector<std::string>& names, bool by_stem) {
        return select_samples(d, names, by_stem);
      },
      py::arg("dataset"), py::arg("names"), py::arg("by_stem") = false);

  bind_options<CheckOptions>(m);
  py::class_<DatasetFinding>(m, "DatasetFinding", "Something wrong in a data set.")
      .def_readonly("kind", &DatasetFinding::kind,
                    "missing, empty, unreadable, duplicate or too_few_images")
      .def_readonly("id", &DatasetFinding::id)
      .def_readonly("detail", &DatasetFinding::detail)
      .def("__repr__", [](const DatasetFinding& f) {
        return fmt::format("DatasetFinding({}: {}: {})", f.kind, f.id, f.detail);
      });
  py::class_<DatasetReport>(m, "DatasetReport", "What check_dataset found.")
      .def_readonly("images", &DatasetReport::images)
      .def_readonly("people", &DatasetReport::people)
      .def_readonly("listed", &DatasetReport::listed)
      .def_readonly("tagged", &DatasetReport::tagged,
                    "images whose Exif tag asks for them to be turned")
      .def_readonly("findings", &DatasetReport::findings)
      .def("count", &DatasetReport::count, py::arg("kind"));
  m.def(
      "check_dataset",
      [](const Dataset& dataset, const std::vector<std::string>& listed,
         const CheckOptions& options, int threads, py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return check_dataset(dataset, listed, options, job);
        });
      },
      py::arg("dataset"), py::arg("listed") = std::vector<std::string>{},
      py::arg("options") = CheckOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none());
}

void bind_sources(py::module_& m) {
  py::class_<ImageSource>(m, "ImageSource", "Equally large RGB crops, by index.")
      .def("__len__", &ImageSource::size)
      .def_property_readonly(
          "shape",
          [](const ImageSource& s) {
            return py::make_tuple(s.size(), s.shape().height, s.shape().width, 3);
          },
          "(N, H, W, 3).")
      .def("name", &ImageSource::name, py::arg("index"), "The sample's id.")
      .def(
          "status",
          [](const ImageSource& s, std::int64_t i) { return static_cast<int>(s.status(i)); },
          py::arg("index"), "The status of the sample; a number of SampleStatus.")
      .def(
          "pixels",
          [](const py::object& self, std::int64_t index) {
            const auto& s = self.cast<const ImageSource&>();
            return view_of(self, s.pixels(index), {s.shape().height, s.shape().width, 3});
          },
          py::arg("index"), "uint8 (H, W, 3), a read-only view.");
}

// An archive that Python reads: an object with __len__, name, label, person, read, where,
// label_places and notes.
class PythonArchive : public ImageArchive {
 public:
  explicit PythonArchive(py::object archive)
      : archive_(std::move(archive)), size_(static_cast<std::int64_t>(py::len(archive_))) {}
  ~PythonArchive() override {
    const py::gil_scoped_acquire gil;
    archive_.release().dec_ref();
  }
  PythonArchive(const PythonArchive&) = delete;
  PythonArchive& operator=(const PythonArchive&) = delete;

  std::int64_t size() const override { return size_; }
  std::string name(std::int64_t i) const override { return ask<std::string>("name", i); }
  std::int64_t label(std::int64_t i) const override { return ask<std::int64_t>("label", i); }
  std::string person(std::int64_t i) const override { return ask<std::string>("person", i); }
  std::string read(std::int64_t i) const override { return ask<std::string>("read", i); }
  std::string where(std::int64_t i) const override { return ask<std::string>("where", i); }
  std::string label_places() const override { return text("label_places"); }
  std::vector<std::string> notes() const override {
    const py::gil_scoped_acquire gil;
    return archive_.attr("notes").cast<std::vector<std::string>>();
  }

 private:
  std::string text(const char* attribute) const {
    const py::gil_scoped_acquire gil;
    return archive_.attr(attribute).cast<std::string>();
  }

  // What Python raises becomes text here: another thread may see it, without the GIL.
  template <class T>
  T ask(const char* method, std::int64_t i) const {
    if (i < 0 || i >= size_) throw std::out_of_range("no such entry of the archive");
    const py::gil_scoped_acquire gil;
    try {
      return archive_.attr(method)(i).cast<T>();
    } catch (py::error_already_set& e) {
      throw Error(py::str(e.value()).cast<std::string>());
    }
  }

  py::object archive_;
  std::int64_t size_;
};

std::shared_ptr<const ImageArchive> open_table_in_python(const std::filesystem::path& path,
                                                         const ArchiveOptions& options) {
  const py::gil_scoped_acquire gil;
  return std::make_shared<PythonArchive>(
      py::module_::import("facebench.datasets._tables")
          .attr("open_table")(path, options.label, options.split));
}

std::string read_remote_in_python(const std::string& address) {
  const py::gil_scoped_acquire gil;
  try {
    return py::module_::import("facebench.datasets._remote")
        .attr("fetch")(address)
        .cast<std::string>();
  } catch (py::error_already_set& e) {
    throw Error(py::str(e.value()).cast<std::string>());
  }
}

void bind_archives(py::module_& m) {
  m.def("require_all_shards", &require_all_shards, py::arg("files"), py::arg("where"));
  m.def("shard_note", &shard_note, py::arg("file"));
  m.def("numbering_note", &numbering_note, py::arg("files"));
  set_table_archive_opener(open_table_in_python);
  set_remote_reader(read_remote_in_python);
  m.def("remote_address", &remote_address, py::arg("path"));
  py::class_<DecodedImages, ImageSource>(
      m, "DecodedImages", "The images of a data set, decoded each time they are asked for.")
      .def(py::init([](Dataset dataset, std::optional<std::pair<int, int>> size) {
             return std::make_unique<DecodedImages>(
                 std::move(dataset),
                 size ? std::optional(ImageShape{size->first, size->second}) : std::nullopt);
           }),
           py::arg("dataset"), py::arg("size") = py::none())
      .def(
          "pixels",
          [](const DecodedImages& s, std::int64_t i) {
            const std::uint8_t* pixels = s.pixels(i);
            return to_numpy(std::vector<std::uint8_t>(pixels, pixels + s.shape().bytes()),
                            {s.shape().height, s.shape().width, 3});
          },
          py::arg("index"), "uint8 (H, W, 3), a copy.");
  bind_options<ConvertOptions>(m);
  py::class_<ConvertSummary>(m, "ConvertSummary", "What convert_dataset wrote.")
      .def_readonly("files", &ConvertSummary::files)
      .def_readonly("images", &ConvertSummary::images)
      .def_readonly("people", &ConvertSummary::people)
      .def_readonly("source_sha256", &ConvertSummary::source_sha256)
      .def_readonly("written_sha256", &ConvertSummary::written_sha256)
      .def_readonly("tree_sha256", &ConvertSummary::tree_sha256, "of a pack, else empty")
      .def_readonly("notes", &ConvertSummary::notes);
  m.def(
      "convert_dataset",
      [](const Dataset& dataset, const std::filesystem::path& out, const ConvertOptions& options,
         int threads, py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return convert_dataset(dataset, out, options, job);
        });
      },
      py::arg("dataset"), py::arg("out"), py::arg("options") = ConvertOptions{},
      py::arg("threads") = 0, py::arg("progress") = py::none());
  m.def("image_archives", [] { return table_docs(image_archives()); });
  m.def("image_archive_writers", [] { return table_docs(image_archive_writers()); });
  m.def(
      "find_image_archive",
      [](const std::filesystem::path& path) -> std::optional<std::string> {
        const ImageArchiveFormat* format = find_image_archive(path);
        return format ? std::optional(format->name) : std::nullopt;
      },
      py::arg("path"));
}

void bind_packs(py::module_& m) {
  bind_options<PackOptions>(m);
  py::class_<PackFailure>(m, "PackFailure", "A sample that is a row without a face.")
      .def_readonly("id", &PackFailure::id)
      .def_property_readonly(
          "status", [](const PackFailure& f) { return std::string(sample_status_name(f.status)); })
      .def_readonly("reason", &PackFailure::reason);
  py::class_<OutsideFaces>(m, "OutsideFaces", "Faces that reach beyond their image.")
      .def_readonly("faces", &OutsideFaces::faces, "that were cut out")
      .def_readonly("boxes", &OutsideFaces::boxes,
                    "with a box that leaves by more than a fifth of its side")
      .def_readonly("landmarks", &OutsideFaces::landmarks, "with a landmark outside")
      .def_readonly("names", &OutsideFaces::names, "of both, in the order of the samples")
      .def_property_readonly(
          "warning", [](const OutsideFaces& o) { return outside_warning(o); },
          "a sentence, where more than one face in a hundred is outside; else empty");
  py::class_<CropSizedImages>(m, "CropSizedImages",
                              "Images that have the crop's size before a face is looked for.")
      .def_readonly("images", &CropSizedImages::images, "of exactly that size")
      .def_readonly("decoded", &CropSizedImages::decoded, "in which a face was looked for")
      .def_property_readonly(
          "warning", [](const CropSizedImages& c) { return crop_sized_warning(c); },
          "a sentence that asks for the detector none, where nearly all are; else empty");
  py::class_<TaggedImages>(m, "TaggedImages", "Images whose Exif tag asks for them to be turned.")
      .def_readonly("images", &TaggedImages::images, "with such a tag")
      .def_readonly("decoded", &TaggedImages::decoded, "that could be read")
      .def_readonly("turned", &TaggedImages::turned, "as the tags say")
      .def_property_readonly(
          "warning", [](const TaggedImages& t) { return tagged_warning(t); },
          "a sentence that names the option, where they were not turned; else empty");
  py::class_<DoubtfulLandmarks>(m, "DoubtfulLandmarks",
                                "Faces whose landmarks do not lie as those of a face do.")
      .def_readonly("faces", &DoubtfulLandmarks::faces, "that were cut out by landmarks")
      .def_readonly("causes", &DoubtfulLandmarks::causes, "what seems wrong -> number of faces")
      .def_readonly("names", &DoubtfulLandmarks::names, "in the order of the samples")
      .def_property_readonly(
          "warning", [](const DoubtfulLandmarks& d) { return doubtful_landmarks_warning(d); },
          "a sentence, where more than one face in a hundred is doubtful; else empty");
  py::class_<PackSummary>(m, "PackSummary", "What pack_dataset wrote.")
      .def_readonly("path", &PackSummary::path)
      .def_readonly("images", &PackSummary::images)
      .def_readonly("failures", &PackSummary::failures)
      .def_readonly("damaged", &PackSummary::damaged, "entries of an archive that were left out")
      .def_readonly("passed_over", &PackSummary::passed_over, "Dataset.passed_over")
      .def_readonly("notes", &PackSummary::notes, "Dataset.notes")
      .def_readonly("outside", &PackSummary::outside)
      .def_readonly("crop_sized", &PackSummary::crop_sized)
      .def_readonly("tagged", &PackSummary::tagged)
      .def_readonly("doubtful_landmarks", &PackSummary::doubtful_landmarks)
      .def_readonly("tree_sha256", &PackSummary::tree_sha256)
      .def_property_readonly("counts", [](const PackSummary& s) {
        py::dict counts;
        for (int i = 0; i < kSampleStatusCount; ++i)
          counts[py::str(std::string(sample_status_name(sample_status_of(i))))] = s.counts[i];
        return counts;
      });
  m.def(
      "pack_dataset",
      [](const Dataset& dataset, const std::filesystem::path& out, const Detector* detector,
         const std::string& selection, const CropOptions& crop, const PackOptions& options,
         int threads, py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return pack_dataset(dataset, detector, selection, crop, options, out, job);
        });
      },
      py::arg("dataset"), py::arg("out"), py::arg("detector").none(true) = py::none(),
      py::arg("selection") = "nearest_center", py::arg("crop") = CropOptions{},
      py::arg("options") = PackOptions{}, py::arg("threads") = 0, py::arg("progress") = py::none());

  py::class_<Pack, ImageSource>(m, "Pack", "A pack, mapped into memory.")
      .def(py::init<const std::filesystem::path&>(), py::arg("path"))
      .def("__len__", &Pack::size)
      .def(
          "__getitem__",
          [](const py::object& self, std::int64_t index) {
            const auto& p = self.cast<const Pack&>();
            const std::int64_t k = index_within(index, p.size());
            // A copy: what collates a batch may write to it, and the file stays as it is.
            return py::make_tuple(
                view_of(self, p.pixels(k), {p.shape().height, p.shape().width, 3}).attr("copy")(),
                p.labels()[static_cast<std::size_t>(k)]);
          },
          py::arg("index"),
          "(uint8 (H, W, 3), label) of a row, as a DataLoader asks; the crop of a row without a "
          "face "
          "is black: see statuses.")
      .def_property_readonly(
          "images",
          [](const py::object& self) {
            const auto& p = self.cast<const Pack&>();
            return view_of(self, p.pixels(0),
                           {p.size(), p.shape().height, p.shape().width, py::ssize_t{3}});
          },
          "uint8 (N, H, W, 3), a view of the file")
      .def_property_readonly("labels",
                             [](const py::object& self) {
                               const auto& p = self.cast<const Pack&>();
                               return view_of(self, p.labels().data(), {p.size()});
                             })
      .def_property_readonly("statuses",
                             [](const py::object& self) {
                               const auto& p = self.cast<const Pack&>();
                               return view_of(self, p.statuses().data(), {p.size()});
                             })
      .def_property_readonly("boxes",
                             [](const py::object& self) {
                               const auto& p = self.cast<const Pack&>();
                               return view_of(self, p.boxes().data(), {p.size(), py::ssize_t{4}});
                             })
      .def_property_readonly("landmarks",
                             [](const py::object& self) {
                               const auto& p = self.cast<const Pack&>();
                               return view_of(self, p.all_landmarks().data(),
                                              {p.size(), py::ssize_t{5}, py::ssize_t{2}});
                             })
      .def_property_readonly("names", &Pack::names)
      .def_property_readonly("label_names", &Pack::label_names)
      .def_property_readonly("path", &Pack::path)
      .def_property_readonly("manifest",
                             [](const Pack& p) { return json_to_python(p.manifest()); });
}

}  // namespace

void bind_datasets(py::module_& m) {
  bind_folders(m);
  bind_sources(m);
  bind_archives(m);
  bind_packs(m);
  bind_overlap(m);
  bind_sample_measures(m);
}

}  // namespace facebench
