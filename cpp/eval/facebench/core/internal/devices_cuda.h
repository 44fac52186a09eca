#pragma once

// The C interface between the library and libfacebench_cuda, which is loaded by name.
extern "C" {

struct facebench_cuda_device {
  char name[256];
  long long memory_bytes;
  int compute_major;
  int compute_minor;
};

// Fills at most `capacity` devices and returns how many there are; below 0: none, and `reason`
// (of `reason_size` bytes, ended by 0) says why.
int facebench_cuda_devices(facebench_cuda_device* devices, int capacity, char* reason,
                           int reason_size);
}
