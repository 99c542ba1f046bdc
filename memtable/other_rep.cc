// SPDX-License-Identifier: Apache-2.0
//
// Creates the representation that the options select.
#include "memtable/other_rep.h"

#include "memtable/hash_rep.h"
#include "memtable/user_rep.h"
#include "memtable/vector_rep.h"

namespace ashlar {

std::unique_ptr<OtherRep> NewOtherRep(const InternalKeyComparator& comparator,
                                      const RepresentationOptions& options, size_t checksum_bytes,
                                      Allocator* allocator) {
  using Representation = RepresentationOptions::Representation;
  switch (options.representation) {
    case Representation::kBlinkTree: break;
    case Representation::kVector:
      return std::make_unique<VectorRep>(comparator, allocator, checksum_bytes);
    case Representation::kHash:
      return std::make_unique<HashRep>(comparator, options, checksum_bytes, allocator);
    case Representation::kOfProgram:
      return UserRep::Make(comparator, options, checksum_bytes, allocator);
  }
  return nullptr;
}

}  // namespace ashlar
