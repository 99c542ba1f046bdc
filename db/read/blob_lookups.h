// SPDX-License-Identifier: Apache-2.0
//
// The last step of point lookups that found a blob index: reads the value from the blob file.
// Both functions are called outside of epochs, while the caller holds a reference on the super
// version. A read error becomes the status of the lookup.
#pragma once

#include <span>

namespace ashlar {

class PointLookup;
class SuperVersion;
struct ReadOptions;

// Reads the value of one lookup. Does nothing if the lookup has found no blob index or wants no
// value.
void ReadBlob(const SuperVersion& super_version, const ReadOptions& options, PointLookup* lookup);

// The same for several lookups of one family: their reads are ordered by file and merged.
void ReadBlobs(const SuperVersion& super_version, const ReadOptions& options,
               std::span<PointLookup* const> lookups);

}  // namespace ashlar
