#pragma once

namespace facebench {

// While one lives, memory of 1 MiB and more that torch's tensors on the CPU give back is kept and
// handed out again: steps of training ask for the same sizes each time, and what the system gives
// anew it sets to zero, page by page. Of all threads of the process; results are the same bits. At
// most twice what tensors had at once is held, and what is free goes back to the system when the
// last one ends. Several may live at once, in any order.
class MemoryReuse {
 public:
  MemoryReuse();
  ~MemoryReuse();
  MemoryReuse(const MemoryReuse&) = delete;
  MemoryReuse& operator=(const MemoryReuse&) = delete;
};

}  // namespace facebench
