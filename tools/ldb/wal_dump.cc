// SPDX-License-Identifier: Apache-2.0
//
// ldb dump_wal uses the log reader of recovery, which here continues after damage.
//
// Each write batch becomes one line on stdout, also one that cannot be parsed to its end; damage
// goes to stderr. The dump goes on behind damage, so that it shows as much of a log as possible,
// and ends with the status of the first damage.
#include <cstdio>
#include <memory>
#include <utility>

#include "db/wal/log_reader.h"
#include "db/write/write_batch_reader.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "tools/ldb/command.h"
#include "tools/ldb/dumps.h"
#include "tools/lib/console.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Prints each damage that the log reader reports, and remembers the first as the result of the
// dump.
class DamagePrinter final : public LogReader::Reporter {
 public:
  void OnDamage(const LogDamage& damage) override {
    std::fprintf(stderr, "%s\n", damage.reason.ToString().c_str());
    if (first.ok()) first = damage.reason;
  }
  Status first;
};

// "PUT(0) : 0x6B : 0x76 "
std::string KeyedText(std::string_view name, const WriteBatchRecord& record, bool prints_value) {
  std::string text = StrCat(name, "(", record.family, ") : ", HexText(record.key), " ");
  if (prints_value) StrAppend(&text, ": ", HexText(record.value), " ");
  return text;
}

// The names and the form are those of RocksDB's tool, which scripts parse.
std::string RecordText(const WriteBatchRecord& record, bool prints_values) {
  switch (record.type) {
    case kTypeValue: return KeyedText("PUT", record, prints_values);
    case kTypeMerge: return KeyedText("MERGE", record, prints_values);
    case kTypeBlobIndex: return KeyedText("PUT_BLOB_INDEX", record, prints_values);
    case kTypeWideColumnEntity: return KeyedText("PUT_ENTITY", record, prints_values);
    case kTypeValuePreferredSeqno: return KeyedText("TIMED_PUT", record, prints_values);
    case kTypeDeletion: return KeyedText("DELETE", record, /*prints_value=*/false);
    case kTypeSingleDeletion: return KeyedText("SINGLE_DELETE", record, /*prints_value=*/false);
    case kTypeRangeDeletion:
      return StrCat("DELETE_RANGE(", record.family, ") : ", HexText(record.key), " ",
                    HexText(record.value), " ");
    case kTypeLogData:
      return prints_values ? StrCat("LOG_DATA : ", HexText(record.value), " ") : "LOG_DATA ";
    case kTypeNoop: return "NOOP ";
    case kTypeBeginPrepareXID:
    case kTypeBeginPersistedPrepareXID: return "BEGIN_PREPARE(false) ";
    case kTypeBeginUnprepareXID: return "BEGIN_PREPARE(true) ";
    case kTypeEndPrepareXID: return StrCat("END_PREPARE(", HexText(record.value), ") ");
    case kTypeCommitXID: return StrCat("COMMIT(", HexText(record.value), ") ");
    case kTypeCommitXIDAndTimestamp:
      return StrCat("COMMIT_WITH_TIMESTAMP(", HexText(record.value), ") ");
    case kTypeRollbackXID: return StrCat("ROLLBACK(", HexText(record.value), ") ");
    default: return StrCat("RECORD_OF_TYPE_", int{record.type}, " ");
  }
}

// Whether the write policy of a prepare section is the one that the user has named.
Status CheckPolicy(const WriteBatchRecord& record, const WalDump& dump) {
  if (!dump.is_write_committed.has_value()) return Status::OK();
  const bool is_committed = record.type == kTypeBeginPrepareXID;
  const bool is_other =
      record.type == kTypeBeginPersistedPrepareXID || record.type == kTypeBeginUnprepareXID;
  if (is_committed && !*dump.is_write_committed) {
    return Status::NotSupported("a prepare section of the write policy write-committed");
  }
  if (is_other && *dump.is_write_committed) {
    return Status::NotSupported("a prepare section of the write policy write-prepared or ",
                                "write-unprepared");
  }
  return Status::OK();
}

// The line begins with the sequence number, the number of entries, the bytes of the batch and its
// offset in the log. A batch with an error in the middle is printed up to there.
Status PrintBatch(const LogReader& log, const Slice& batch, const WalDump& dump) {
  WriteBatchReader reader(batch);
  if (batch.size() < kWriteBatchHeaderBytes) return reader.status();
  std::string text = StrCat(DecodeFixed64(batch.data()), ",", DecodeFixed32(batch.data() + 8), ",",
                            batch.size(), ",", log.record_offset(), ",");
  WriteBatchRecord record;
  Status policy;
  while (reader.Next(&record)) {
    text += RecordText(record, dump.prints_values);
    if (policy.ok()) policy = CheckPolicy(record, dump);
  }
  PrintLine(text);
  return reader.status().ok() ? policy : reader.status();
}

// Adds the place of the record to an error about its content.
Status Describe(const Status& status, const std::string& path, uint64_t offset) {
  return Status::CopyAppendMessage(status, ", in the record at offset ",
                                   StrCat(offset, " of ", path));
}

}  // namespace

Status DumpWal(FileSystem* fs, const std::string& path, const WalDump& dump) {
  ASSIGN_OR_RETURN(std::unique_ptr<SequentialReader> file,
                   SequentialReader::Open(fs, path, FileOptions()));
  LogReader::Options options;
  options.is_wal = true;
  options.continue_after_report = true;
  FileType type = kWalFile;
  // A file with another name is dumped, too, but then records that a recycled log holds from its
  // former use cannot be recognised.
  if (!ParseFileName(BaseNameOf(path), &options.log_number, &type)) options.log_number = 0;
  DamagePrinter damage;
  LogReader log(NewFileLogSource(std::move(file)), options, &damage);
  if (dump.has_header) {
    PrintLine(StrCat("Sequence,Count,ByteSize,Physical Offset,Key(s)",
                     dump.prints_values ? " : value " : ""));
  }
  Progress progress("write batches");
  Slice record;
  while (log.ReadRecord(&record)) {
    progress.Add();
    const Status status = PrintBatch(log, record, dump);
    if (status.ok()) continue;
    const Status described = Describe(status, path, log.record_offset());
    std::fprintf(stderr, "%s\n", described.ToString().c_str());
    if (damage.first.ok()) damage.first = described;
  }
  // Errors of reading the file, unlike damage in it, end the dump at once.
  RETURN_IF_ERROR(log.status());
  if (log.torn_tail_bytes() != 0) {
    std::fprintf(stderr, "%s: its last %llu bytes hold no complete record\n", path.c_str(),
                 static_cast<unsigned long long>(log.torn_tail_bytes()));
  }
  return damage.first;
}

Status RunDumpWal(const Invocation& call) {
  const std::string path = call.line->Value("walfile").value_or("");
  if (path.empty()) return Status::InvalidArgument("dump_wal needs --walfile=<file>");
  WalDump dump;
  ASSIGN_OR_RETURN(dump.has_header, call.line->Bool("header"));
  ASSIGN_OR_RETURN(dump.prints_values, call.line->Bool("print_value"));
  if (call.line->Has("write_committed")) {
    ASSIGN_OR_RETURN(dump.is_write_committed, call.line->Bool("write_committed"));
  }
  return DumpWal(ToolFiles(), path, dump);
}

}  // namespace ashlar
