// SPDX-License-Identifier: Apache-2.0
//
// The forms with SliceParts for batches that do not have their own: the parts are joined first.
#include "ashlar/write_batch_base.h"

#include <string>

#include "ashlar/slice.h"

namespace ashlar {

Status WriteBatchBase::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                           const SliceParts& value) {
  std::string key_space, value_space;
  // The strings hold the joined bytes until the call returns.
  return Put(column_family, Slice(key, &key_space), Slice(value, &value_space));
}
Status WriteBatchBase::Put(const SliceParts& key, const SliceParts& value) {
  std::string key_space, value_space;
  return Put(Slice(key, &key_space), Slice(value, &value_space));
}
Status WriteBatchBase::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                             const SliceParts& value) {
  std::string key_space, value_space;
  return Merge(column_family, Slice(key, &key_space), Slice(value, &value_space));
}
Status WriteBatchBase::Merge(const SliceParts& key, const SliceParts& value) {
  std::string key_space, value_space;
  return Merge(Slice(key, &key_space), Slice(value, &value_space));
}
Status WriteBatchBase::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  std::string space;
  return Delete(column_family, Slice(key, &space));
}
Status WriteBatchBase::Delete(const SliceParts& key) {
  std::string space;
  return Delete(Slice(key, &space));
}
Status WriteBatchBase::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  std::string space;
  return SingleDelete(column_family, Slice(key, &space));
}
Status WriteBatchBase::SingleDelete(const SliceParts& key) {
  std::string space;
  return SingleDelete(Slice(key, &space));
}
Status WriteBatchBase::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                                   const SliceParts& end_key) {
  std::string begin_space, end_space;
  return DeleteRange(column_family, Slice(begin_key, &begin_space), Slice(end_key, &end_space));
}
Status WriteBatchBase::DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) {
  std::string begin_space, end_space;
  return DeleteRange(Slice(begin_key, &begin_space), Slice(end_key, &end_space));
}

}  // namespace ashlar
