#include "common.h"

namespace facebench {

class PythonJob::Sink : public ProgressSink {
 public:
  Sink(PythonJob& owner, py::object target) : owner_(owner), target_(std::move(target)) {}

  void begin(std::string_view stage, std::int64_t total, std::string_view unit) override {
    call([&] {
      target_.attr("begin")(py::str(stage.data(), stage.size()), total,
                            py::str(unit.data(), unit.size()));
    });
  }
  void update(std::int64_t done, std::string_view note) override {
    call([&] { target_.attr("update")(done, py::str(note.data(), note.size())); });
  }
  void end() override {
    // Called while an exception may be passing: never throws.
    py::gil_scoped_acquire gil;
    try {
      target_.attr("end")();
    } catch (py::error_already_set& e) {
      e.discard_as_unraisable("facebench progress");
    }
  }

 private:
  template <class F>
  void call(F&& f) {
    py::gil_scoped_acquire gil;
    try {
      f();
    } catch (py::error_already_set& e) {
      owner_.error_ = e.value();
      throw Cancelled();
    }
  }

  PythonJob& owner_;
  py::object target_;
};

PythonJob::PythonJob(int threads, py::object progress) {
  if (threads < 0) throw std::invalid_argument("threads must be 0 (all) or more");
  job_.threads = threads;
  if (!progress.is_none()) {
    sink_ = std::make_unique<Sink>(*this, std::move(progress));
    job_.progress = sink_.get();
  }
  job_.poll = [this] {
    py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return;
    error_ = py::error_already_set().value();
    throw Cancelled();
  };
}

PythonJob::~PythonJob() = default;

void PythonJob::rethrow_python_error() {
  if (!error_) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.ptr())), error_.ptr());
  throw py::error_already_set();
}

}  // namespace facebench
