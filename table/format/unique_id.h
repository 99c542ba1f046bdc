// SPDX-License-Identifier: Apache-2.0
//
// The identity of an SST, derived from its creator, so that a file that was exchanged, copied over
// or restored under a wrong name is noticed. docs/formats/checksums_and_hashes.md, section 7.
//
// The MANIFEST records the internal form (the first two words). Users see the public form, a
// bijective mix of the same words. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

struct TableProperties;

// A plain value of 192 bits, of which the MANIFEST has the first 128.
struct InternalUniqueId {
  std::array<uint64_t, 3> words{};

  // The form in the MANIFEST: words 0 and 1.
  std::array<uint64_t, 2> ManifestForm() const { return {words[0], words[1]}; }
  bool IsNull() const { return words[0] == 0 && words[1] == 0; }

  friend bool operator==(const InternalUniqueId&, const InternalUniqueId&) = default;
};

// The database and the session that created a file, and the number of the file. The three together
// are unique, because numbers are not reused within a session.
struct FileIdentity {
  std::string_view db_id;
  std::string_view db_session_id;
  FileNumber file_number;
};

// NotSupported if the identity is incomplete (an empty id, or file number 0).
Result<InternalUniqueId> MakeInternalUniqueId(const FileIdentity& identity);
Result<InternalUniqueId> MakeInternalUniqueId(const TableProperties& properties);

// The first part of the block cache keys of a file; the same at every open, and already while the
// file is being written. A different base of the checksums or a different global sequence number
// gives a different id, because decoded blocks contain these numbers.
uint64_t CacheFileId(const InternalUniqueId& id, uint32_t checksum_base, uint64_t global_seqno);

// 16 bytes, or 24 bytes in the extended form.
enum class UniqueIdForm : uint8_t { kStandard, kExtended };
std::string PublicUniqueId(const InternalUniqueId& id, UniqueIdForm form);

// A session id of 20 characters [0-9A-Z], from the low 39 bits of `upper` and all of `lower`, in
// the form that MakeInternalUniqueId() parses.
std::string EncodeSessionId(uint64_t upper, uint64_t lower);

}  // namespace ashlar
