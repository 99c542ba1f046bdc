// SPDX-License-Identifier: Apache-2.0
//
// Text and bytes of write batches.
#include "tests/db/write/batch_text.h"

#include <sstream>

#include "db/write/write_batch_internal.h"
#include "tests/support/json.h"
#include "util/keys/coding.h"
#include "util/keys/wide_column_encoding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Printable bytes as they are, others as \x00.
std::string Quoted(const Slice& bytes) {
  std::string result = "\"";
  for (const char c : bytes.ToStringView()) {
    if (c >= ' ' && c <= '~') {
      result.push_back(c);
    } else {
      static constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return result + "\"";
}

std::string LowerHex(const Slice& bytes) {
  std::string hex = bytes.ToString(true);
  for (char& c : hex) c = static_cast<char>(tolower(c));
  return hex;
}

std::string BlobText(Slice index) {
  uint64_t file = 0, offset = 0, size = 0;
  index.remove_prefix(1);
  GetVarint64(&index, &file);
  GetVarint64(&index, &offset);
  GetVarint64(&index, &size);
  return StrCat("Blob file=", file, " off=", offset, " size=", size, " comp=", int{index[0]});
}

std::string EntityText(const Slice& entity) {
  WideColumns columns;
  const Status status = DecodeColumns(entity, &columns);
  if (!status.ok()) return status.ToString();
  std::string text = StrCat("v", int{entity[0]}, "{");
  const char* separator = "";
  for (const WideColumn& column : columns) {
    text += separator + Quoted(column.name()) + "=" + Quoted(column.value());
    separator = ", ";
  }
  return text + "}";
}

// "000010: 6b 31" -> two bytes
std::string BytesOfDumpLine(const std::string& line) {
  std::string hex;
  for (const char c : line.substr(line.find(':') + 1)) {
    if (c != ' ') hex.push_back(c);
  }
  return FromHex(hex);
}

}  // namespace

std::vector<BatchVector> ReadBatchVectors(const std::string& path) {
  std::istringstream input(ReadTestFile(path));
  std::vector<BatchVector> vectors;
  BatchVector current;
  bool is_batch = false, is_expectation = false;
  for (std::string line; std::getline(input, line);) {
    if (line.rfind("====", 0) == 0) {
      if (is_batch) vectors.push_back(current);
      current = BatchVector();
      is_batch = is_expectation = false;
    } else if (line == "kind: batch") {
      is_batch = true;
    } else if (line == "expect:") {
      is_expectation = true;
    } else if (is_expectation) {
      current.expected += line + "\n";
    } else if (line.size() > 6 && line[6] == ':') {
      current.bytes += BytesOfDumpLine(line);
    }
  }
  if (is_batch) vectors.push_back(current);
  return vectors;
}

Status BatchDescriber::Line(const std::string& line) {
  text_ += line + "\n";
  return Status::OK();
}
Status BatchDescriber::PutCF(uint32_t family, const Slice& key, const Slice& value) {
  return Line(StrCat("Put cf=", family, " ", Quoted(key), " ", Quoted(value)));
}
Status BatchDescriber::TimedPutCF(uint32_t family, const Slice& key, const Slice& value,
                                  uint64_t time) {
  return Line(StrCat("TimedPut cf=", family, " ", Quoted(key), " ", Quoted(value), " time=", time));
}
Status BatchDescriber::PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) {
  return Line(StrCat("Entity cf=", family, " ", Quoted(key), " ", EntityText(entity)));
}
Status BatchDescriber::DeleteCF(uint32_t family, const Slice& key) {
  return Line(StrCat("Delete cf=", family, " ", Quoted(key)));
}
Status BatchDescriber::SingleDeleteCF(uint32_t family, const Slice& key) {
  return Line(StrCat("SingleDelete cf=", family, " ", Quoted(key)));
}
Status BatchDescriber::DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) {
  return Line(StrCat("DeleteRange cf=", family, " ", Quoted(begin), " ", Quoted(end)));
}
Status BatchDescriber::MergeCF(uint32_t family, const Slice& key, const Slice& value) {
  return Line(StrCat("Merge cf=", family, " ", Quoted(key), " ", Quoted(value)));
}
Status BatchDescriber::PutBlobIndexCF(uint32_t family, const Slice& key, const Slice& index) {
  return Line(StrCat("BlobIndex cf=", family, " ", Quoted(key), " ", BlobText(index)));
}
void BatchDescriber::LogData(const Slice& blob) { (void)Line("LogData " + Quoted(blob)); }
Status BatchDescriber::MarkBeginPrepare(bool unprepared) {
  return Line(unprepared ? "BeginUnprepare" : "BeginPrepare");
}
Status BatchDescriber::MarkEndPrepare(const Slice& xid) {
  return Line("EndPrepare " + Quoted(xid));
}
Status BatchDescriber::MarkNoop(bool) { return Line("Noop"); }
Status BatchDescriber::MarkRollback(const Slice& xid) { return Line("Rollback " + Quoted(xid)); }
Status BatchDescriber::MarkCommit(const Slice& xid) { return Line("Commit " + Quoted(xid)); }
Status BatchDescriber::MarkCommitWithTimestamp(const Slice& xid, const Slice& ts) {
  return Line(StrCat("CommitTs ", Quoted(xid), " ts=", LowerHex(ts)));
}

namespace {

using PreparePolicy = WriteBatchInternal::PreparePolicy;

PreparePolicy PolicyOf(ValueType begin_marker) {
  return begin_marker == kTypeBeginPrepareXID            ? PreparePolicy::kWriteCommitted
         : begin_marker == kTypeBeginPersistedPrepareXID ? PreparePolicy::kWritePrepared
                                                         : PreparePolicy::kWriteUnprepared;
}

Status RewriteRecord(const WriteBatchRecord& r, PreparePolicy policy, WriteBatch* target) {
  switch (r.type) {
    case kTypeValue: return WriteBatchInternal::Put(target, r.family, r.key, r.value);
    case kTypeDeletion: return WriteBatchInternal::Delete(target, r.family, r.key);
    case kTypeSingleDeletion: return WriteBatchInternal::SingleDelete(target, r.family, r.key);
    case kTypeMerge: return WriteBatchInternal::Merge(target, r.family, r.key, r.value);
    case kTypeRangeDeletion:
      return WriteBatchInternal::DeleteRange(target, r.family, r.key, r.value);
    case kTypeBlobIndex: return WriteBatchInternal::PutBlobIndex(target, r.family, r.key, r.value);
    case kTypeWideColumnEntity:
      return WriteBatchInternal::PutEntity(target, r.family, r.key, r.value);
    case kTypeValuePreferredSeqno: {
      const size_t value_bytes = r.value.size() - 8;
      return WriteBatchInternal::TimedPut(target, r.family, r.key,
                                          Slice(r.value.data(), value_bytes),
                                          DecodeFixed64(r.value.data() + value_bytes));
    }
    case kTypeLogData: return target->PutLogData(r.value);
    case kTypeEndPrepareXID: return WriteBatchInternal::MarkEndPrepare(target, r.value, policy);
    case kTypeCommitXID: return WriteBatchInternal::MarkCommit(target, r.value);
    case kTypeCommitXIDAndTimestamp:
      return WriteBatchInternal::MarkCommitWithTimestamp(target, r.value, r.key);
    case kTypeRollbackXID: return WriteBatchInternal::MarkRollback(target, r.value);
    default:  // a begin marker is a Noop until the end marker turns it
      return WriteBatchInternal::InsertNoop(target);
  }
}

}  // namespace

Status RewriteBatch(const WriteBatch& source, WriteBatch* target) {
  WriteBatchReader reader(WriteBatchInternal::Contents(source));
  PreparePolicy policy = PreparePolicy::kWriteCommitted;
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.type == kTypeBeginPrepareXID || record.type == kTypeBeginPersistedPrepareXID ||
        record.type == kTypeBeginUnprepareXID) {
      policy = PolicyOf(record.type);
    }
    Status status = RewriteRecord(record, policy, target);
    if (!status.ok()) return status;
  }
  return reader.status();
}

}  // namespace ashlar
