#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// Files whose names say that they are parts of one: NAME-00000-of-00002.ENDING, with a hash before
// the ending or not, numbered from 0 or from 1.

// Throws Error beginning with `where` where of such files in a folder some parts are not there, are
// there twice, or are of several numberings. Other names are let pass.
void require_all_shards(const std::vector<std::string>& files, std::string_view where);

// What a reader of this file alone should know, a sentence: which part of how many it is. Empty
// where its name does not say that it is one.
std::string shard_note(std::string_view file);

// The same of files that are numbered without saying how many there are (train-000.tar,
// train-002.tar): which numbers between the first and the last are not there, where these are fewer
// than those that are. Empty where none is missing.
std::string numbering_note(const std::vector<std::string>& files);

}  // namespace facebench
