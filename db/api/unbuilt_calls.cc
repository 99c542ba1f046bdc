// SPDX-License-Identifier: Apache-2.0
//
// Each answer is one line.
#include "db/api/unbuilt_calls.h"

#include <memory>
#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/iterator.h"

namespace ashlar {

Status UnbuiltCalls::CompactFiles(const CompactionOptions&, ColumnFamilyHandle*,
                                  const std::vector<std::string>&, const int, const int,
                                  std::vector<std::string>* const, CompactionJobInfo*) {
  return Status::NotSupported("CompactFiles");
}

Status UnbuiltCalls::SuggestCompactRange(ColumnFamilyHandle*, const Slice*, const Slice*) {
  return Status::NotSupported("SuggestCompactRange");
}

std::unique_ptr<Iterator> UnbuiltCalls::NewCoalescingIterator(
    const ReadOptions&, const std::vector<ColumnFamilyHandle*>&) {
  return std::unique_ptr<Iterator>(NewErrorIterator(Status::NotSupported("NewCoalescingIterator")));
}

std::unique_ptr<AttributeGroupIterator> UnbuiltCalls::NewAttributeGroupIterator(
    const ReadOptions&, const std::vector<ColumnFamilyHandle*>&) {
  return NewAttributeGroupErrorIterator(Status::NotSupported("NewAttributeGroupIterator"));
}

Status UnbuiltCalls::IncreaseFullHistoryTsLow(ColumnFamilyHandle*, std::string) {
  return Status::NotSupported("IncreaseFullHistoryTsLow");
}

Status UnbuiltCalls::GetFullHistoryTsLow(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetFullHistoryTsLow");
}

Status UnbuiltCalls::GetNewestUserDefinedTimestamp(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetNewestUserDefinedTimestamp");
}

Status UnbuiltCalls::GetUpdatesSince(SequenceNumber, std::unique_ptr<WalIterator>*,
                                     const WalIterator::ReadOptions&) {
  return Status::NotSupported("GetUpdatesSince");
}

Status UnbuiltCalls::IngestExternalFile(ColumnFamilyHandle*, const std::vector<std::string>&,
                                        const IngestExternalFileOptions&) {
  return Status::NotSupported("IngestExternalFile");
}

Status UnbuiltCalls::IngestExternalFiles(const std::vector<IngestExternalFileArg>&) {
  return Status::NotSupported("IngestExternalFiles");
}

Status UnbuiltCalls::PrepareFileIngestion(const std::vector<IngestExternalFileArg>&,
                                          std::unique_ptr<FileIngestionHandle>*) {
  return Status::NotSupported("PrepareFileIngestion");
}

Status UnbuiltCalls::CommitFileIngestionHandles(std::vector<std::unique_ptr<FileIngestionHandle>>) {
  return Status::NotSupported("CommitFileIngestionHandles");
}

Status UnbuiltCalls::GetPreparedFileInfoForExternalSstIngestion(
    const std::string&, std::shared_ptr<const PreparedFileInfo>*) {
  return Status::NotSupported("GetPreparedFileInfoForExternalSstIngestion");
}

Status UnbuiltCalls::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions&, const std::string&, const ImportColumnFamilyOptions&,
    const std::vector<const ExportImportFilesMetaData*>&, ColumnFamilyHandle**) {
  return Status::NotSupported("CreateColumnFamilyWithImport");
}

Status UnbuiltCalls::ClipColumnFamily(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return Status::NotSupported("ClipColumnFamily");
}

}  // namespace ashlar
