#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace facebench {

// "s3://bucket/x.tar" of an address on an object store, also as a path has it, with one slash;
// nothing for what is, or could be, a file of this machine.
std::optional<std::string> remote_address(const std::filesystem::path& path);

// Object stores are read by Python's fsspec, which this library does not link. The Python package
// sets a reader of whole files; until one is set, an address is an Error that says so. Not safe
// while another thread reads one.
using RemoteReader = std::function<std::string(const std::string& address)>;
void set_remote_reader(RemoteReader reader);
// The bytes of a file. Throws Error.
std::string read_remote(const std::string& address);

}  // namespace facebench
