// SPDX-License-Identifier: Apache-2.0
//
// relay DIRECTORY TURN: the Go program of relay_test.py, which says what a turn does.
package main

// #include <stdlib.h>
// #include "rocksdb/c.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

func require(err *C.char, what string) {
	if err != nil {
		fmt.Fprintln(os.Stderr, what+":", C.GoString(err))
		os.Exit(1)
	}
}

// A C string and its length. The program is short, so nothing is freed.
func text(s string) (*C.char, C.size_t) {
	return C.CString(s), C.size_t(len(s))
}

func main() {
	if len(os.Args) != 3 {
		os.Exit(2)
	}
	turn, _ := strconv.Atoi(os.Args[2])
	var err *C.char
	options := C.rocksdb_options_create()
	C.rocksdb_options_set_create_if_missing(options, 1)
	C.rocksdb_options_set_uint64add_merge_operator(options)
	db := C.rocksdb_open(options, C.CString(os.Args[1]), &err)
	require(err, "open")
	read := C.rocksdb_readoptions_create()
	write := C.rocksdb_writeoptions_create()
	C.rocksdb_writeoptions_set_sync(write, 1)

	it := C.rocksdb_create_iterator(db, read)
	for C.rocksdb_iter_seek_to_first(it); C.rocksdb_iter_valid(it) != 0; C.rocksdb_iter_next(it) {
		var keyLength, valueLength C.size_t
		k := C.rocksdb_iter_key(it, &keyLength)
		v := C.rocksdb_iter_value(it, &valueLength)
		key := C.GoStringN(k, C.int(keyLength))
		value := C.GoBytes(unsafe.Pointer(v), C.int(valueLength))
		if key == "count" {
			fmt.Printf("count=%d\n", binary.LittleEndian.Uint64(value))
		} else {
			fmt.Printf("%s=%s\n", key, value)
		}
	}
	C.rocksdb_iter_get_error(it, &err)
	require(err, "iterator")
	C.rocksdb_iter_destroy(it)

	one := make([]byte, 8)
	binary.LittleEndian.PutUint64(one, 1)
	k, n := text("count")
	v, m := text(string(one))
	C.rocksdb_merge(db, write, k, n, v, m, &err)
	require(err, "merge")
	batch := C.rocksdb_writebatch_create()
	k, n = text(fmt.Sprintf("key%03d", turn))
	v, m = text(fmt.Sprintf("Go in turn %d", turn))
	C.rocksdb_writebatch_put(batch, k, n, v, m)
	if turn >= 4 {
		k, n = text(fmt.Sprintf("key%03d", turn-4))
		C.rocksdb_writebatch_delete(batch, k, n)
	}
	C.rocksdb_write(db, write, batch, &err)
	require(err, "write")
	C.rocksdb_writebatch_destroy(batch)
	if turn%2 == 0 {
		flush := C.rocksdb_flushoptions_create()
		C.rocksdb_flush(db, flush, &err)
		require(err, "flush")
	}
	C.rocksdb_close(db)
}
