#include "without_gil.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace facebench {
namespace {

namespace py = pybind11;

// Shared by the modules of the package; never destroyed.
struct Calls {
  std::mutex mutex;
  std::condition_variable one_ended;
  std::unordered_map<std::thread::id, int> depths;  // of the threads that are in calls
  std::thread::id ending;                           // the thread that ends the process
};

Calls& calls() {
  static Calls& shared = [&]() -> Calls& {
    static constexpr char kName[] = "facebench_calls";
    if (auto* made = static_cast<Calls*>(py::get_shared_data(kName))) return *made;
    auto* made = static_cast<Calls*>(py::set_shared_data(kName, new Calls));
    // A forked process has the calls of the thread that forked.
    static Calls& forked = *made;
    pthread_atfork([] { forked.mutex.lock(); }, [] { forked.mutex.unlock(); },
                   [] {
                     std::erase_if(forked.depths, [](const auto& call) {
                       return call.first != std::this_thread::get_id();
                     });
                     forked.mutex.unlock();
                   });
    return *made;
  }();
  return shared;
}

bool is_to_stop(const Calls& all) {
  return all.ending != std::thread::id() && all.ending != std::this_thread::get_id();
}

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

void end_calls() {
  // What a call waits for outside the library, an own network's step, cannot be stopped.
  constexpr std::chrono::seconds kLongest{10};
  const py::gil_scoped_release release;
  Calls& all = calls();
  std::unique_lock lock(all.mutex);
  all.ending = std::this_thread::get_id();
  all.one_ended.wait_for(lock, kLongest, [&] { return all.depths.empty(); });
}

}  // namespace

WithoutGil::Counted::Counted() {
  Calls& all = calls();
  std::unique_lock lock(all.mutex);
  if (is_to_stop(all) && !all.depths.contains(std::this_thread::get_id())) {
    lock.unlock();
    const py::gil_scoped_release release;
    wait_for_the_end();
  }
  ++all.depths[std::this_thread::get_id()];
}

WithoutGil::Counted::~Counted() {
  Calls& all = calls();
  const std::lock_guard lock(all.mutex);
  const auto depth = all.depths.find(std::this_thread::get_id());
  if (--depth->second == 0) all.depths.erase(depth);
  all.one_ended.notify_all();
}

WithoutGil::WithoutGil() = default;

WithoutGil::~WithoutGil() {
  Calls& all = calls();
  {
    const std::lock_guard lock(all.mutex);
    const auto depth = all.depths.find(std::this_thread::get_id());
    if (!is_to_stop(all) || depth->second > 1) return;
    all.depths.erase(depth);
    all.one_ended.notify_all();
  }
  wait_for_the_end();
}

bool is_to_stop() {
  Calls& all = calls();
  const std::lock_guard lock(all.mutex);
  return is_to_stop(all);
}

void end_calls_at_exit(py::module_& m) {
  m.def("_end_calls", &end_calls, "What is called at the end of the process.");
  py::module_::import("atexit").attr("register")(m.attr("_end_calls"));
}

}  // namespace facebench
