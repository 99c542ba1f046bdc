// SPDX-License-Identifier: Apache-2.0
//
// sst_dump --command=raw: the whole file as text, beginning with its footer. Block handles are
// printed as their encoded bytes, so that they can be found in a hex dump of the file; keys and
// values are printed as hexadecimal digits and as characters.
#include <algorithm>
#include <cassert>
#include <memory>

#include "env/file_writer.h"
#include "table/format/meta_block_names.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "tools/sst_dump/commands.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kRule[] = "--------------------------------------\n";
constexpr char kShortRule[] = "  ------\n";

// The encoded bytes as hexadecimal digits.
std::string HandleText(const BlockHandle& handle) {
  std::string bytes;
  handle.AppendTo(&bytes);
  return Slice(bytes).ToString(/*hex=*/true);
}

// "k e y ": each byte followed by a space, with "\0" for zero bytes. Other bytes are written as
// they are, so the file may contain control characters.
std::string SpacedText(const Slice& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i++) {
    if (bytes[i] == '\0') {
      text += "\\0";
    } else {
      text += bytes[i];
    }
    text += ' ';
  }
  return text;
}

// RawDump writes all sections of one table to one text file.
class RawDump {
 public:
  RawDump(TableInspector* table, FileWriter* out) : table_(table), out_(out) {}

  Status Run() {
    RETURN_IF_ERROR(WriteHead());
    ASSIGN_OR_RETURN(const std::vector<TableInspector::IndexEntry> blocks, table_->DataBlocks());
    RETURN_IF_ERROR(WriteIndex(blocks));
    RETURN_IF_ERROR(WriteDictionary());
    RETURN_IF_ERROR(WriteRangeDeletions());
    return WriteDataBlocks(blocks);
  }

 private:
  // Each of these writes one section, and nothing if the table has no such part.
  Status WriteHead();
  Status WriteIndex(const std::vector<TableInspector::IndexEntry>& blocks);
  Status WriteDictionary();
  Status WriteRangeDeletions();
  Status WriteDataBlocks(const std::vector<TableInspector::IndexEntry>& blocks);
  Status WriteEntry(const Slice& key, const Slice& value);

  TableInspector* const table_;
  FileWriter* const out_;
};

// Writes the footer, the handles of the meta blocks and the properties, in the layout of RocksDB's
// dump. Meta blocks of other kinds are not listed.
Status RawDump::WriteHead() {
  const Footer& footer = table_->footer();
  ASSIGN_OR_RETURN(const BlockHandle index, table_->IndexHandle());
  RETURN_IF_ERROR(out_->Append(StrCat(
      "Footer Details:\n", kRule, "  metaindex handle: ", HandleText(footer.metaindex),
      "\n  index handle: ", HandleText(index), "\n  table_magic_number: ", kBlockBasedTableMagic,
      "\n  format version: ", footer.format_version, "\n  \n")));
  std::string blocks;
  for (const auto& [name, handle] : table_->meta_blocks()) {
    const Slice text(name);
    if (text.starts_with(kFullFilterPrefix) || text.starts_with(kPartitionedFilterPrefix)) {
      StrAppend(&blocks, "  Filter block handle: ", HandleText(handle), "\n");
    } else if (text == kPropertiesBlockName) {
      StrAppend(&blocks, "  Properties block handle: ", HandleText(handle), "\n");
    } else if (text == kCompressionDictBlockName) {
      StrAppend(&blocks, "  Compression dictionary block handle: ", HandleText(handle), "\n");
    } else if (text == kRangeDeletionBlockName) {
      StrAppend(&blocks, "  Range deletion block handle: ", HandleText(handle), "\n");
    }
  }
  RETURN_IF_ERROR(out_->Append(StrCat("Metaindex Details:\n", kRule, blocks, "\n")));
  return out_->Append(
      StrCat("Table Properties:\n", kRule, PropertiesText(table_->properties()), "  \n"));
}

Status RawDump::WriteIndex(const std::vector<TableInspector::IndexEntry>& blocks) {
  RETURN_IF_ERROR(
      out_->Append(StrCat("Index Details:\n", kRule, "  Block key hex dump: Data block handle\n",
                          "  Block key ascii\n\n")));
  for (const TableInspector::IndexEntry& entry : blocks) {
    RETURN_IF_ERROR(
        out_->Append(StrCat("  HEX    ", HexBytes(entry.separator), ": ", HandleText(entry.handle),
                            "\n  ASCII  ", SpacedText(entry.separator), "\n", kShortRule)));
  }
  return out_->Append("\n");
}

Status RawDump::WriteDictionary() {
  const auto found = table_->meta_blocks().find(std::string(kCompressionDictBlockName));
  if (found == table_->meta_blocks().end()) return Status::OK();
  ASSIGN_OR_RETURN(const LooseBlock block, table_->ReadBlock(found->second, "dictionary"));
  return out_->Append(StrCat("Compression Dictionary:\n", kRule,
                             "  size (bytes): ", block.contents.size(), "\n\n  HEX    ",
                             HexBytes(block.contents), "\n\n"));
}

Status RawDump::WriteRangeDeletions() {
  if (!table_->meta_blocks().contains(std::string(kRangeDeletionBlockName))) return Status::OK();
  RETURN_IF_ERROR(out_->Append(StrCat("Range deletions:\n", kRule)));
  RETURN_IF_ERROR(table_->ForEachTombstone(
      [this](const Slice& key, const Slice& value) { return WriteEntry(key, value); }));
  return out_->Append("\n");
}

Status RawDump::WriteDataBlocks(const std::vector<TableInspector::IndexEntry>& blocks) {
  // Sizes are those of the stored blocks without their trailers.
  uint64_t smallest = UINT64_MAX, largest = 0, total = 0, number = 0;
  Progress progress("blocks");
  for (const TableInspector::IndexEntry& entry : blocks) {
    const uint64_t bytes = entry.handle.size;
    smallest = std::min(smallest, bytes);
    largest = std::max(largest, bytes);
    total += bytes;
    RETURN_IF_ERROR(out_->Append(
        StrCat("Data Block # ", ++number, " @ ", HandleText(entry.handle), "\n", kRule)));
    ASSIGN_OR_RETURN(DataBlock * raw, table_->ReadDataBlock(entry.handle));
    const auto block = ObjectRef<DataBlock>::Own(raw);
    RETURN_IF_ERROR(table_->ForEachEntry(
        block->block, entry.handle,
        [this](const Slice& key, const Slice& value) { return WriteEntry(key, value); }));
    RETURN_IF_ERROR(out_->Append("\n"));
    progress.Add();
  }
  if (number == 0) return Status::OK();
  return out_->Append(StrCat(
      "Data Block Summary:\n", kRule, "  # data blocks: ", number, "\n  min data block size: ",
      smallest, "\n  max data block size: ", largest, "\n  avg data block size: ",
      std::to_string(static_cast<double>(total) / static_cast<double>(number)), "\n"));
}

Status RawDump::WriteEntry(const Slice& key, const Slice& value) {
  const Slice user_key = ExtractUserKey(key);
  return out_->Append(StrCat("  HEX    ", HexBytes(user_key), ": ", HexBytes(value), "\n  ASCII  ",
                             SpacedText(user_key), ": ", SpacedText(value), "\n", kShortRule));
}

}  // namespace

// An error leaves the text file behind, with all sections before the damage.
Status DumpRaw(TableInspector* table, SstDumpRequest*) {
  assert(table != nullptr);
  RETURN_IF_ERROR(table->CheckHasBlocks());  // before a file is made
  const std::string name = OutputPath(*table, "_dump.txt");
  ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> out,
                   FileWriter::Create(ToolFiles(), name, FileOptions()));
  RETURN_IF_ERROR(RawDump(table, out.get()).Run());
  RETURN_IF_ERROR(out->Close());
  PrintLine(StrCat("raw dump written to file ", name));
  return Status::OK();
}

}  // namespace ashlar
