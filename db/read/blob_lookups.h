// SPDX-License-Identifier: Apache-2.0
//
// The last step of point lookups that found a blob index: reading the value from the blob file.
// Outside of epochs, with the super version pinned. An error becomes the lookup's.
#pragma once

#include <span>

namespace ashlar {

class PointLookup;
class SuperVersion;
struct ReadOptions;

// Of a lookup that is_blob_index().
void ReadBlob(const SuperVersion& super_version, const ReadOptions& options, PointLookup* lookup);

// Of all those that are, together.
void ReadBlobs(const SuperVersion& super_version, const ReadOptions& options,
               std::span<PointLookup* const> lookups);

}  // namespace ashlar
