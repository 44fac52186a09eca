#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace facebench {

// Throws Error, with the names, where a folder that is to be replaced holds anything but `own`
// names: somebody else put it there, and it would be deleted. A name that ends with '/' is that of
// a folder. What is not there, or is not a folder, holds nothing.
void refuse_to_lose(const std::filesystem::path& folder, std::span<const std::string_view> own);

}  // namespace facebench
