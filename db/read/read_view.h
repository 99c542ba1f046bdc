// SPDX-License-Identifier: Apache-2.0
//
// ReadView is one consistent state of a column family: a super version and the newest sequence
// number a reader may see in it. ReadViewSource hands them out to iterators.
#pragma once

#include "ashlar/types.h"

namespace ashlar {

class SuperVersion;

struct ReadView {
  SuperVersion* super_version = nullptr;  // carries one reference
  SequenceNumber seqno = 0;
};

// Implemented by the column family. Any thread.
class ReadViewSource {
 public:
  virtual ~ReadViewSource() = default;

  // The newest state. The super version is loaded before the sequence number: the other way round,
  // a flush in between could drop a version that the number needs.
  virtual ReadView AcquireView() = 0;
  // Gives back what AcquireView() returned; files may become obsolete and are then deleted.
  virtual void ReleaseView(const ReadView& view) = 0;
  // Iterators keep the family alive, also when it is dropped.
  virtual void PinSource() = 0;
  virtual void UnpinSource() = 0;
};

}  // namespace ashlar
