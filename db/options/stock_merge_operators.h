// SPDX-License-Identifier: Apache-2.0
//
// The merge operators that option texts can name:
//
//   uint64add         UInt64AddOperator         adds little-endian 64-bit counters, modulo 2^64
//   put, put_v1       PutOperator               the newest operand is the value
//   max               MaxOperator               the greatest of all by bytes
//   stringappend      StringAppendOperator      joins with a delimiter
//   stringappendtest  StringAppendTESTOperator  the same without partial merges
//   bytesxor          BytesXOR                  xor; the shorter is filled up with zeros
//   sortlist          MergeSortOperator         merges ascending lists of decimal ints, "1,5,9"
//
// An operand of sortlist that is not a valid list fails the merge. A counter whose length is not
// eight bytes counts as 0, and a line is written to the info log. Threads: any.
#pragma once

#include <memory>
#include <string>

#include "ashlar/merge_operator.h"

namespace ashlar {

// `name` is either name of an operator. Null if there is none of that name.
std::unique_ptr<MergeOperator> NewStockMergeOperator(const std::string& name);

std::unique_ptr<MergeOperator> NewStringAppendOperator(const std::string& delimiter);

}  // namespace ashlar
