#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "arrays.h"
#include "common.h"
#include "facebench/core/utf8.h"
#include "facebench/io/confine.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/file.h"
#include "facebench/io/frte_child.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/manifest.h"
#include "facebench/io/mat5.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"
#include "facebench/io/toml.h"
#include "json.h"
#include "modules.h"

namespace facebench {
namespace {

EmbeddingSet make_set(const py::object& embeddings, std::vector<std::string> names,
                      const py::object& status, const py::object& manifest) {
  const auto values = dense<float>(as_array(embeddings, "embeddings", 2));
  EmbeddingSet set;
  set.dim = values.shape(1);
  set.values.assign(values.data(), values.data() + values.size());
  set.names = std::move(names);
  set.status.assign(set.names.size(), SampleStatus::ok);
  if (!status.is_none()) {
    set.status.clear();
    for (const std::uint8_t s : whole_numbers<std::uint8_t>(status, "status"))
      set.status.push_back(sample_status_of(s));
  }
  if (!manifest.is_none()) set.manifest = json_from_python(manifest);
  check_embeddings(set, "embeddings");
  return set;
}

// A view that keeps its set alive.
py::array values_of(const py::object& self) {
  const auto& set = self.cast<const EmbeddingSet&>();
  const py::array_t<float> view({static_cast<py::ssize_t>(set.size()), py::ssize_t{set.dim}},
                                set.values.data(), self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

py::array status_of(const EmbeddingSet& set) {
  std::vector<std::uint8_t> numbers;
  for (SampleStatus s : set.status) numbers.push_back(static_cast<std::uint8_t>(s));
  return to_numpy(std::move(numbers));
}

// numpy's name of a type; bfloat16, which numpy lacks, comes as float32.
const char* numpy_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
    case DType::bf16:
      return "<f4";
    case DType::f16:
      return "<f2";
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::i16:
      return "<i2";
    case DType::i8:
      return "|i1";
    case DType::u64:
      return "<u8";
    case DType::u32:
      return "<u4";
    case DType::u16:
      return "<u2";
    case DType::u8:
      return "|u1";
    case DType::boolean:
      return "|b1";
  }
  throw std::logic_error("numpy_type");
}

py::array tensor_to_numpy(const TensorInfo& info) {
  py::array result(py::dtype(numpy_type(info.dtype)),
                   std::vector<py::ssize_t>(info.shape.begin(), info.shape.end()));
  auto* out = static_cast<std::uint8_t*>(result.mutable_data());
  if (info.bytes.empty()) return result;
  if (info.dtype != DType::bf16) {
    std::memcpy(out, info.bytes.data(), info.bytes.size());
  } else {  // the upper half of a float32
    std::memset(out, 0, info.bytes.size() * 2);
    for (std::size_t i = 0; i < info.bytes.size() / 2; ++i)
      std::memcpy(out + 4 * i + 2, info.bytes.data() + 2 * i, 2);
  }
  return result;
}

py::tuple read_safetensors(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  py::dict tensors;
  for (const auto& [name, info] : file.tensors()) tensors[py::str(name)] = tensor_to_numpy(info);
  return py::make_tuple(tensors, file.metadata());
}

DType dtype_of(const py::array& array, const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype != DType::bf16 && array.dtype().equal(py::dtype(numpy_type(dtype)))) return dtype;
  }
  throw std::invalid_argument(fmt::format("tensor '{}': safetensors has no type for {}", name,
                                          std::string(py::str(array.dtype()))));
}

void write_arrays(const std::filesystem::path& path, const py::dict& arrays,
                  const std::map<std::string, std::string>& metadata) {
  std::vector<py::array> kept;
  std::map<std::string, TensorInfo, std::less<>> tensors;
  for (const auto& [key, value] : arrays) {
    const auto name = py::cast<std::string>(key);
    check_unmasked(value, fmt::format("tensor '{}'", name).c_str());
    const py::array array = py::array::ensure(value, py::array::c_style);
    if (!array) throw std::invalid_argument(fmt::format("tensor '{}' is not an array", name));
    kept.push_back(array);
    TensorInfo& info = tensors[name];
    info.dtype = dtype_of(array, name);
    info.shape.assign(array.shape(), array.shape() + array.ndim());
    info.bytes = {static_cast<const std::byte*>(array.data()),
                  static_cast<std::size_t>(array.nbytes())};
  }
  const WithoutGil without_gil;
  write_safetensors(path, tensors, metadata);
}

// Nested lists for cells, str for text, float64 arrays for numbers, None for what is not read.
py::object mat_to_python(const MatArray& array) {
  switch (array.kind) {
    case MatArray::Kind::text:
      return py::str(array.text);
    case MatArray::Kind::numbers: {
      const py::array_t<double, py::array::f_style> result(
          std::vector<py::ssize_t>(array.shape.begin(), array.shape.end()));
      std::copy(array.numbers.begin(), array.numbers.end(),
                const_cast<double*>(static_cast<const double*>(result.data())));
      return result;
    }
    case MatArray::Kind::cell: {
      py::list flat;
      for (const MatArray& cell : array.cells) flat.append(mat_to_python(cell));
      const py::module_ numpy = py::module_::import("numpy");
      py::object result = numpy.attr("empty")(flat.size(), py::arg("dtype") = "object");
      for (std::size_t i = 0; i < flat.size(); ++i) result[py::int_(i)] = flat[i];
      return result.attr("reshape")(array.shape, py::arg("order") = "F");
    }
    case MatArray::Kind::structure: {
      py::list elements;
      for (std::size_t i = 0; i < array.cells.size(); i += array.fields.size()) {
        py::dict element;
        for (std::size_t f = 0; f < array.fields.size(); ++f)
          element[py::str(array.fields[f])] = mat_to_python(array.cells[i + f]);
        elements.append(element);
      }
      if (elements.size() == 1) return elements[0];
      return elements;
    }
    case MatArray::Kind::other:
      break;
  }
  return py::none();
}

}  // namespace

void bind_io(py::module_& m) {
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Json::exception& e) {  // JSON of other types than a reader expected
      throw Error(printable(e.what()));   // for the translator of the core
    }
  });
  py::enum_<SampleStatus>(m, "SampleStatus", "The status of one sample.")
      .value("ok", SampleStatus::ok)
      .value("no_face", SampleStatus::no_face)
      .value("unreadable", SampleStatus::unreadable)
      .value("missing", SampleStatus::missing)
      .value("rejected", SampleStatus::rejected);

  py::class_<EmbeddingSet>(m, "EmbeddingSet",
                           "One vector per sample, and the status of each sample.\n\n"
                           "    values: float32 (N, D), zeros where the status is not ok\n"
                           "    names: N sample ids, each once\n"
                           "    status: N numbers of SampleStatus (default: all ok)\n"
                           "    manifest: a dict of what decided the numbers")
      .def(py::init(&make_set), py::arg("values"), py::arg("names"), py::arg("status") = py::none(),
           py::arg("manifest") = py::none())
      .def_property_readonly("values", &values_of, "float32 (N, D), a read-only view.")
      .def_readonly("names", &EmbeddingSet::names, "The sample ids.")
      .def_property_readonly("status", &status_of, "uint8 (N), numbers of SampleStatus.")
      .def_property_readonly(
          "manifest", [](const EmbeddingSet& set) { return json_to_python(set.manifest); },
          "What decided the numbers, as a dict.")
      .def_readonly("dim", &EmbeddingSet::dim, "Numbers per vector.")
      .def("__len__", &EmbeddingSet::size)
      .def("__repr__", [](const EmbeddingSet& set) {
        const auto ok = std::count(set.status.begin(), set.status.end(), SampleStatus::ok);
        return fmt::format("EmbeddingSet({} x {}, {} ok)", set.size(), set.dim, ok);
      });

  m.def(
      "may_open",
      [](const std::filesystem::path& path, const std::vector<std::filesystem::path>& folders) {
        return std::ranges::any_of(
            folders, [&](const std::filesystem::path& folder) { return may_open(path, {folder}); });
      },
      py::arg("path"), py::arg("folders"),
      "Whether a path that a file names may be opened: where readers are confined only if it, with "
      "its links followed, lies in one of the folders.");

  m.def("confine_readers", &confine_readers, py::arg("on") = true,
        R"(Parse HDF5, TOML and JSON files from now on in confined child processes.

For files from strangers: the HDF5 library is not safe with malicious files, and no parser is
free of errors. A child answers this process and computes; it has no file open, can open none,
and gets memory, processor time and time by the clock in proportion to the file. If it fails, or
if the system cannot confine a process, a :class:`facebench.Error` is raised here. The numbers
are the same. Returns the previous setting. ``facebench --untrusted VERB`` does this.

>>> import tempfile, numpy as np
>>> from facebench.io import EmbeddingSet, confine_readers, read_embeddings, write_embeddings
>>> before = confine_readers()
>>> with tempfile.TemporaryDirectory() as folder:
...     write_embeddings(folder + "/e.h5", EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
...     read_embeddings(folder + "/e.h5").names
['a.jpg']
>>> confine_readers(before)
True
)");
  m.def(
      "_confine_to_reading", &confine_to_reading, py::arg("memory"), py::arg("seconds"),
      "For a child: the kernel lets this process compute and read files from now on, with so many "
      "more bytes of address space, and seconds of processor time.");
  m.def("_serve_frte_library", &serve_frte_library, py::arg("library"), py::arg("configuration"),
        py::arg("memory"),
        "For a child: runs a library of NIST's FRTE 1:1 under confinement, and answers questions.");
  m.def(
      "read_toml",
      [](const py::bytes& text, const std::string& file) {
        return json_to_python(parse_toml(std::string(text), file).json());
      },
      py::arg("text"), py::arg("file"));
  m.def("read_embeddings", &read_embeddings, py::arg("path"), py::call_guard<WithoutGil>());
  m.def(
      "write_embeddings", &write_embeddings, py::arg("path"), py::arg("embeddings"),
      py::call_guard<WithoutGil>(),
      R"(Write an :class:`EmbeddingSet`, whole or not at all. The same content gives the same bytes.

>>> import tempfile, numpy as np
>>> from facebench.io import EmbeddingSet, read_embeddings, write_embeddings
>>> with tempfile.TemporaryDirectory() as folder:
...     write_embeddings(folder + "/e.h5", EmbeddingSet(np.ones((1, 4)), ["a.jpg"]))
...     read_embeddings(folder + "/e.h5").dim
4
)");
  m.def("read_safetensors", &read_safetensors, py::arg("path"),
        R"(All tensors of a safetensors file as ``({name: array}, {metadata key: text})``.

bfloat16, which numpy lacks, comes as float32 (exactly). Raises :class:`facebench.Error` where
header and data disagree in any way.
)");
  m.def("write_safetensors", &write_arrays, py::arg("path"), py::arg("tensors"),
        py::arg("metadata") = std::map<std::string, std::string>{});
  m.def(
      "sha256_file",
      [](const std::filesystem::path& path, py::object progress) {
        return with_job(1, std::move(progress),
                        [&](const Job& job) { return sha256_file(path, job); });
      },
      py::arg("path"), py::arg("progress") = py::none(),
      "The SHA-256 of a file, 64 lower-case digits.");
  m.def(
      "sha256_hex", [](const py::bytes& data) { return sha256_hex(std::string_view(data)); },
      py::arg("data"),
      R"(The SHA-256 of bytes.

>>> from facebench.io import sha256_hex
>>> sha256_hex(b"abc")[:8]
'ba7816bf'
)");
  m.def(
      "canonical_json",
      [](const py::object& value) { return canonical_json(json_from_python(value)); },
      py::arg("value"),
      R"(The canonical JSON text that facebench hashes: keys in order, no spaces.

>>> from facebench.io import canonical_json
>>> canonical_json({"b": 1, "a": [0.1, None]})
'{"a":[0.1,null],"b":1}'
)");
  m.def(
      "read_h5_manifest",
      [](const std::filesystem::path& path) {
        return json_to_python(H5Reader(path).read_json("/manifest"));
      },
      py::arg("path"), "The ``/manifest`` of a pack or an embeddings file, as a dict.");
  m.def(
      "write_file",
      [](const std::filesystem::path& path, const py::bytes& bytes) {
        const std::string text = bytes;
        const WithoutGil without_gil;
        write_file(path, text);
      },
      py::arg("path"), py::arg("bytes"));
  m.def(
      "read_manifest",
      [](const std::filesystem::path& path) {
        return json_to_python(manifest_to_json(read_manifest(path)));
      },
      py::arg("path"), "A run's ``run.json``: ``{\"content\": ..., \"circumstance\": ...}``.");
  m.def(
      "read_mat5",
      [](const std::filesystem::path& path) {
        py::dict result;
        for (const auto& [name, array] : read_mat5(path))
          result[py::str(name)] = mat_to_python(array);
        return result;
      },
      py::arg("path"),
      R"(The variables of a MAT file, versions 5 to 7.

Numeric arrays are float64, rows of characters are ``str``, cell arrays are object arrays of
them, a structure is a ``dict`` (several of one shape: a list); anything else is ``None``.
)");
}

}  // namespace facebench
