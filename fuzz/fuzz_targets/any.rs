//! One program for every target: `ANNALS_FUZZ_TARGET` says which one it is.
//!
//! RocksDB is linked once so, and not for each of them.
#![no_main]

use std::sync::LazyLock;

use annals_fuzzing::Target;
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ANNALS_FUZZ_TARGET").unwrap_or_default();
    annals_fuzzing::by_name(&name).unwrap_or_else(|| panic!("there is no target {name:?}"))
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
