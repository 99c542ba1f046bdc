// SPDX-License-Identifier: Apache-2.0
//
// Opens the database, chooses steps, closes, prints.
#include "session.h"

#include <cstdarg>
#include <cstdio>

namespace differential {

std::string Show(const rocksdb::Slice& bytes) {
  constexpr size_t kLongest = 40;
  std::string text = "'";
  for (size_t i = 0; i < bytes.size() && i < kLongest; i++) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte > ' ' && byte < 127 && byte != '\\' && byte != '\'') {
      text += static_cast<char>(byte);
    } else {
      char hex[8];
      std::snprintf(hex, sizeof(hex), "\\%02x", byte);
      text += hex;
    }
  }
  text += "'";
  if (bytes.size() <= kLongest) return text;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes.size(); i++) {
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  }
  return text + "..." + std::to_string(bytes.size()) + "#" + std::to_string(hash % 1000000);
}

std::string Show(const rocksdb::Status& status) {
  switch (status.code()) {
    case rocksdb::Status::kOk: return "OK";
    case rocksdb::Status::kNotFound: return "NotFound";
    case rocksdb::Status::kCorruption: return "Corruption";
    case rocksdb::Status::kInvalidArgument: return "InvalidArgument";
    case rocksdb::Status::kNotSupported: return "NotSupported";
    default: return "code" + std::to_string(static_cast<int>(status.code()));
  }
}

void Print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
}

Session::Session(const Shape& shape, int number, const std::string& dir)
    : shape_(shape), number_(number), dir_(dir), session_(SessionShapeOf(shape, number)) {
  for (const rocksdb::ColumnFamilyOptions& options : session_.plain) {
    extractors_.push_back(options.prefix_extractor);
  }
}

Session::~Session() { Close(); }

bool Session::Open() {
  rocksdb::Status status;
  for (const auto* options : {&session_.elaborate, &session_.plain}) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (size_t i = 0; i < shape_.families.size(); i++) {
      families.emplace_back(shape_.families[i].name, (*options)[i]);
    }
    rocksdb::DB* db = nullptr;
    status = rocksdb::DB::Open(session_.db_options, dir_, families, &handles_, &db);
    db_.reset(db);
    family_options_ = *options;
    if (!status.IsNotSupported()) break;
  }
  if (!status.ok()) {
    Print("open: %s\n", status.ToString().c_str());
    return false;
  }
  Print("session %d: sequence %s\n", number_, SequenceText().c_str());
  return true;
}

std::string Session::SequenceText() const {
  return shape_.ingests ? "unsaid" : std::to_string(db_->GetLatestSequenceNumber());
}

Session::StepFunction Session::Choose(Draw* draw) {
  static const std::vector<std::pair<int, StepFunction>> kWeights{
      {12, &Session::Put},
      {5, &Session::Delete},
      {6, &Session::DeleteRange},
      {12, &Session::Merge},
      {8, &Session::WriteBatch},
      {4, &Session::SingleDelete},
      {1, &Session::WriteWithoutLog},
      {1, &Session::Overwrite},
      {3, &Session::Fill},
      {2, &Session::DeleteManyRanges},
      {4, &Session::Flush},
      {2, &Session::Compact},
      {1, &Session::DeleteFiles},
      {1, &Session::ChangeOptions},
      {2, &Session::Ingest},
      {1, &Session::Checkpoint},
      {1, &Session::ExportAndImport},
      {5, &Session::PutEntity},
      {3, &Session::GetEntity},
      {2, &Session::ScanColumns},
      {3, &Session::TakeSnapshot},
      {2, &Session::ReleaseSnapshot},
      {1, &Session::PrintProperties},
      {5, &Session::Get},
      {9, &Session::MultiGet},
      {2, &Session::MultiGetWithLimit},
      {4, &Session::Operands},
      {1, &Session::MayExist},
      {1, &Session::CacheOnly},
      {9, &Session::Scan},
      {7, &Session::ScanPrefix},
      {1, &Session::ScanPartOfTables},
      {2, &Session::OpenCursor},
      {7, &Session::MoveCursor},
      {2, &Session::RefreshCursor},
      {1, &Session::CloseCursor},
  };
  int sum = 0;
  for (const auto& [weight, function] : kWeights) sum += weight;
  int chosen = static_cast<int>(draw->Below(static_cast<uint64_t>(sum)));
  for (const auto& [weight, function] : kWeights) {
    chosen -= weight;
    if (chosen < 0) return function;
  }
  return nullptr;
}

void Session::Step(int step) {
  Draw draw(shape_.seed, static_cast<uint64_t>(number_), static_cast<uint64_t>(step));
  step_ = step;
  Print("%d:%d ", number_, step);
  (this->*Choose(&draw))(&draw);
}

void Session::Finish(bool prints_entries) {
  cursors_.clear();
  ReleaseSnapshots();
  if (session_.is_fragile) DeleteFragile();
  // An empty DeleteRange has a sequence number, which RocksDB forgets if it is the last one in the
  // log.
  const rocksdb::Status status = db_->Put(rocksdb::WriteOptions(), handles_[0], "end", "");
  if (!status.ok()) Print("end: %s\n", status.ToString().c_str());
  for (size_t i = 0; i < handles_.size(); i++) PrintFamily(i, prints_entries);
}

void Session::Close() {
  cursors_.clear();
  if (db_ == nullptr) return;
  ReleaseSnapshots();
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    const rocksdb::Status status = db_->DestroyColumnFamilyHandle(handle);
    if (!status.ok()) Print("handle: %s\n", status.ToString().c_str());
  }
  handles_.clear();
  const rocksdb::Status status = db_->Close();
  if (!status.ok()) Print("close: %s\n", status.ToString().c_str());
  db_.reset();
}

}  // namespace differential
