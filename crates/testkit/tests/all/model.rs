//! The store in memory against the model.

use annals_testkit::conformance::MemoryHarness;
use annals_testkit::model::check_random;

#[test]
fn the_store_in_memory_is_what_the_model_says() {
    check_random(&MemoryHarness::default(), 150, 60);
}
