# Read by every recipe of the Makefile (BASH_ENV): links the RocksDB that scripts/rocksdb.sh compiled.
# Evaluated for each recipe, because `make setup` may install the compiler or compile the library first.
# shellcheck shell=bash
unset BASH_ENV # for the recipe's own shell only
if [ -z "${ROCKSDB_LIB_DIR:-}" ]; then
    annals_rocksdb=$(scripts/rocksdb.sh --dir)
    if [ -n "$annals_rocksdb" ] && [ -e "$annals_rocksdb/librocksdb.a" ]; then
        export ROCKSDB_LIB_DIR=$annals_rocksdb ROCKSDB_STATIC=1
    fi
    unset annals_rocksdb
fi
