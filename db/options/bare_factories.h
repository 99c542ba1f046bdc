// SPDX-License-Identifier: Apache-2.0
//
// The factories of PlainTables and CuckooTables, and the adaptive one, which writes tables of
// another factory. They only hold options: every table is read by what its footer says, so a
// factory decides how new tables are written. Immutable and thread safe like those of
// table_factory.h.
#pragma once

#include "ashlar/table.h"
#include "table/plain/bare_table_writer.h"

namespace ashlar {

struct ColumnFamilyOptions;

// The format in which the tables of a family are written; kNone: with blocks. The prefix extractor
// is borrowed from `options`.
BareTableFormat BareFormatOf(const ColumnFamilyOptions& options);
// The same without what other options say. A null factory is the default one, with blocks.
BareTableFormat BareFormatOfFactory(const TableFactory* factory);

// InvalidArgument or NotSupported: the options of a family whose tables have no blocks exclude each
// other.
Status CheckBareFamily(const ColumnFamilyOptions& options);

// The factory whose tables `factory` writes: `factory` itself unless it is an adaptive one.
const TableFactory* WriterOf(const TableFactory& factory);
// The factory whose options hold for reading tables with blocks if `factory` writes others; null:
// the default one.
const TableFactory* BlockBasedReaderOf(const TableFactory& factory);

}  // namespace ashlar
