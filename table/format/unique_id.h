// SPDX-License-Identifier: Apache-2.0
//
// The identity of an SST: derived from who created it, so that a file that was swapped, copied over
// or restored under the wrong name is noticed. docs/formats/checksums_and_hashes.md, section 7.
//
// The MANIFEST records the internal form (first two words); users see the public form, a bijective
// mix of it. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

struct TableProperties;

struct InternalUniqueId {
  std::array<uint64_t, 3> words{};

  // The form that the MANIFEST keeps: words 0 and 1.
  std::array<uint64_t, 2> ManifestForm() const { return {words[0], words[1]}; }
  bool IsNull() const { return words[0] == 0 && words[1] == 0; }

  friend bool operator==(const InternalUniqueId&, const InternalUniqueId&) = default;
};

// Who created a file.
struct FileIdentity {
  std::string_view db_id;
  std::string_view db_session_id;
  FileNumber file_number;
};

// NotSupported when the identity is incomplete (an empty id or file number 0).
Result<InternalUniqueId> MakeInternalUniqueId(const FileIdentity& identity);
Result<InternalUniqueId> MakeInternalUniqueId(const TableProperties& properties);

// By which the block cache knows the blocks of a file, at every open and already while it is being
// written. Checksums that are based on something else, or another number for all entries, make it
// another file: what is unpacked of a block has the numbers in it.
uint64_t CacheFileId(const InternalUniqueId& id, uint32_t checksum_base, uint64_t global_seqno);

// 16 public bytes, or 24 in the extended form.
enum class UniqueIdForm : uint8_t { kStandard, kExtended };
std::string PublicUniqueId(const InternalUniqueId& id, UniqueIdForm form);

// A session identity of 20 characters [0-9A-Z]: the low 39 bits of `upper` and all of `lower`, in
// the form MakeInternalUniqueId reads back.
std::string EncodeSessionId(uint64_t upper, uint64_t lower);

}  // namespace ashlar
