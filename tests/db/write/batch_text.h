// SPDX-License-Identifier: Apache-2.0
//
// Write batches as text, in the words of tests/data/vectors/write_batch.txt, and back into bytes.
#pragma once

#include <string>
#include <vector>

#include "ashlar/write_batch.h"

namespace ashlar {

struct BatchVector {
  std::string bytes;
  std::string expected;  // lines of text, each ended
};

// The sections of kind "batch".
std::vector<BatchVector> ReadBatchVectors(const std::string& path);

// One line per record. A handler is not told which write policy prepared a transaction, so the
// begin markers of two of them read alike.
class BatchDescriber : public WriteBatch::Handler {
 public:
  const std::string& text() const { return text_; }

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override;
  Status TimedPutCF(uint32_t family, const Slice& key, const Slice& value, uint64_t time) override;
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override;
  Status DeleteCF(uint32_t family, const Slice& key) override;
  Status SingleDeleteCF(uint32_t family, const Slice& key) override;
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override;
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override;
  Status PutBlobIndexCF(uint32_t family, const Slice& key, const Slice& index) override;
  void LogData(const Slice& blob) override;
  Status MarkBeginPrepare(bool unprepared) override;
  Status MarkEndPrepare(const Slice& xid) override;
  Status MarkNoop(bool empty_batch) override;
  Status MarkRollback(const Slice& xid) override;
  Status MarkCommit(const Slice& xid) override;
  Status MarkCommitWithTimestamp(const Slice& xid, const Slice& ts) override;

 private:
  Status Line(const std::string& line);

  std::string text_;
};

// Builds the same batch again, through the calls that the engine uses. The status is that of the
// first call that failed.
Status RewriteBatch(const WriteBatch& source, WriteBatch* target);

}  // namespace ashlar
