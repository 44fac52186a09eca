#pragma once

#include <pybind11/pybind11.h>

namespace facebench {

// A call that computes without the GIL; in its place where a function is bound,
// py::call_guard<WithoutGil>(). At the end of the process, while other threads still compute in
// such calls, the objects that they use are destroyed. So Python's atexit first ends these calls:
// their jobs are cancelled, and the threads that called wait for the end of the process, as do
// those that begin a call later.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  struct Counted {
    Counted();
    ~Counted();
  };
  Counted counted_;
  pybind11::gil_scoped_release release_;
};

// Whether the process ends and the calling thread is not the one that ends it.
bool is_to_stop();

// Makes Python's atexit do so.
void end_calls_at_exit(pybind11::module_& m);

}  // namespace facebench
