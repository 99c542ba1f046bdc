// SPDX-License-Identifier: Apache-2.0
//
// Table files outside of a database are declared but not built yet: every call that can answers
// NotSupported. Nothing is opened or written.
#include "ashlar/iterator.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/status.h"

namespace ashlar {

namespace {

Status NotBuilt(const char* what) { return Status::NotSupported(what, "not built yet"); }

}  // namespace

struct SstFileWriter::Rep {};
SstFileWriter::SstFileWriter(const EnvOptions&, const Options&, const Comparator*,
                             ColumnFamilyHandle*, bool, Env::IOPriority) {}
SstFileWriter::~SstFileWriter() = default;
Status SstFileWriter::Open(const std::string&, Temperature) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::OpenWithEmbeddedBlobs(const std::string&,
                                            const SstFileWriterEmbeddedBlobOptions&, Temperature) {
  return NotBuilt("SstFileWriter");
}
Status SstFileWriter::Put(const Slice&, const Slice&) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::Put(const Slice&, const Slice&, const Slice&) {
  return NotBuilt("SstFileWriter");
}
Status SstFileWriter::PutEntity(const Slice&, const WideColumns&) {
  return NotBuilt("SstFileWriter");
}
Status SstFileWriter::Merge(const Slice&, const Slice&) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::Delete(const Slice&) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::Delete(const Slice&, const Slice&) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::DeleteRange(const Slice&, const Slice&) { return NotBuilt("SstFileWriter"); }
Status SstFileWriter::DeleteRange(const Slice&, const Slice&, const Slice&) {
  return NotBuilt("SstFileWriter");
}
Status SstFileWriter::Finish(ExternalSstFileInfo*) { return NotBuilt("SstFileWriter"); }
uint64_t SstFileWriter::FileSize() { return 0; }
bool SstFileWriter::CreatedBySstFileWriter(const TableProperties& properties) {
  return properties.user_collected_properties.contains("rocksdb.external_sst_file.version");
}

struct SstFileReader::Rep {};
SstFileReader::SstFileReader(const Options&) {}
SstFileReader::~SstFileReader() = default;
Status SstFileReader::Open(const std::string&) { return NotBuilt("SstFileReader"); }
Iterator* SstFileReader::NewIterator(const ReadOptions&) {
  return NewErrorIterator(NotBuilt("SstFileReader"));
}
std::vector<Status> SstFileReader::MultiGet(const ReadOptions&, const std::vector<Slice>& keys,
                                            std::vector<std::string>*) {
  return std::vector<Status>(keys.size(), NotBuilt("SstFileReader"));
}
std::vector<Status> SstFileReader::MultiGet(const ReadOptions&, const std::vector<Slice>& keys,
                                            std::vector<PinnableSlice>*) {
  return std::vector<Status>(keys.size(), NotBuilt("SstFileReader"));
}
Status SstFileReader::Get(const ReadOptions&, const Slice&, std::string*) {
  return NotBuilt("SstFileReader");
}
Status SstFileReader::Get(const ReadOptions&, const Slice&, PinnableSlice*) {
  return NotBuilt("SstFileReader");
}
std::unique_ptr<Iterator> SstFileReader::NewTableIterator() {
  return std::unique_ptr<Iterator>(NewErrorIterator(NotBuilt("SstFileReader")));
}
Status SstFileReader::ParseTableIteratorKey(const Slice&, ParsedEntryInfo*) const {
  return NotBuilt("SstFileReader");
}
std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const { return nullptr; }
Status SstFileReader::VerifyChecksum(const ReadOptions&) { return NotBuilt("SstFileReader"); }
Status SstFileReader::VerifyNumEntries(const ReadOptions&) { return NotBuilt("SstFileReader"); }

}  // namespace ashlar
