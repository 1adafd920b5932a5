//! Each store against the reference model, with reopening as one of the steps.

use annals_testkit::model::check_random;

use crate::stores::{Kind, Logs, over_each_store};

over_each_store! {
    a_store_is_what_the_model_says,
}

fn a_store_is_what_the_model_says(logs: &dyn Logs) {
    let cases = match logs.kind() {
        Kind::Memory | Kind::Rocks => 24,
        Kind::Shared | Kind::Postgres => 12,
    };
    check_random(logs, cases, 60);
}
