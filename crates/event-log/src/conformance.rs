//! The conformance suite: what every store must do, as tests.
//!
//! A store's crate implements [`Harness`] and calls
//! [`conformance_suite!`](crate::conformance_suite) in its own test module.
//! The macro lists the cases, once, and makes one `#[test]` of each.
//!
//! The cases are bound to no async runtime: they block their threads on the
//! store's futures. What is random in them (ids, salts, which thread is scheduled
//! when) does not change the expected results.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is test code that other crates' tests call; a failed case panics"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use uuid::Uuid;

use crate::memory::MemoryLog;
use crate::{EventLog, Store};

pub mod append;
pub mod blobs;
pub mod cancellation;
pub mod chains;
pub mod content;
pub mod copy;
pub mod expectations;
pub mod idempotency;
pub mod lifecycle;
pub mod names;
pub mod read_models;
pub mod reads;
pub mod redaction;
mod support;
pub mod tail;
pub mod tree;

/// How the suite gets at a store. Each test makes its own harness.
pub trait Harness: Send + Sync {
    /// Opens a new, empty log, another one with every call.
    fn open(&self) -> Arc<dyn Store>;

    /// Closes a log that [`Harness::open`] or this function gave, and opens it
    /// again: the same log, as another process would find it.
    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store>;
}

/// Logs in memory by their ids, so that they can be opened again.
#[derive(Debug, Default)]
pub struct MemoryHarness {
    logs: Mutex<HashMap<Uuid, Arc<MemoryLog>>>,
}

impl MemoryHarness {
    fn keep(&self, log: MemoryLog) -> Arc<dyn Store> {
        let log = Arc::new(log);
        let mut logs = self.logs.lock().unwrap();
        logs.insert(log.log_id(), Arc::clone(&log));
        log
    }
}

impl Harness for MemoryHarness {
    fn open(&self) -> Arc<dyn Store> {
        self.keep(MemoryLog::new(Uuid::new_v4()))
    }

    fn reopen(&self, log: Arc<dyn Store>) -> Arc<dyn Store> {
        let known = self.logs.lock().unwrap().remove(&log.log_id()).unwrap();
        self.keep(known.reopen())
    }
}

/// Makes one `#[test]` for each case of the [suite](crate::conformance).
///
/// The argument is an expression that makes a
/// [`Harness`](crate::conformance::Harness); it is evaluated in every test. The
/// tests come in modules named after the cases' subjects, so call the macro in
/// its own module.
#[macro_export]
macro_rules! conformance_suite {
    ($harness:expr) => {
        $crate::conformance_suite! { @tests $harness =>
            append {
                an_event_is_read_back_as_it_was_given,
                events_of_one_batch_follow_each_other,
                all_or_nothing_over_several_streams,
                nothing_malformed_is_taken,
                dense_under_16_writers,
                one_racer_wins,
                recorded_at_never_decreases,
            }
            chains {
                links_are_made_in_their_turn,
                nothing_is_made_behind_a_link_that_is_not,
                a_repeat_makes_no_link,
                links_that_wait_together_are_made_in_order,
            }
            expectations {
                every_expectation_against_every_state,
                every_guard_against_every_state,
                the_state_before_the_batch_counts,
                all_expectations_on_one_stream_must_hold,
            }
            idempotency {
                a_repeat_gets_the_first_answer,
                another_request_is_a_mismatch,
                the_status_of_a_batch,
                a_refused_batch_id_can_be_used_again,
                concurrent_repeats_store_one_copy,
                a_batch_is_known_after_reopening,
            }
            reads {
                every_page_of_every_source,
                an_empty_log_has_no_pages,
                a_page_is_bounded_in_records,
                a_page_is_bounded_in_bytes,
                streams_are_listed_by_prefix,
                heads_and_counts,
            }
            tail {
                nothing_partial_and_nothing_past_the_watermark,
                a_live_tail_sees_each_record_once,
                waiting_ends_when_the_watermark_moves,
            }
            cancellation {
                a_future_that_was_never_polled_does_nothing,
                a_dropped_append_can_be_repeated,
                dropped_reads_and_waits_are_harmless,
            }
            content {
                every_size_is_read_back,
                every_limit_can_be_reached,
                beyond_every_limit_nothing_is_stored,
                a_blob_of_another_length_is_refused,
            }
            names {
                every_allowed_character,
                names_that_resemble_each_other_stay_apart,
            }
            blobs {
                a_blob_is_stored_once,
                a_blob_of_any_size,
                an_unknown_blob_is_refused,
                a_false_size_is_refused,
                a_false_size_is_not_copied,
                a_refused_append_leaves_no_blob,
            }
            read_models {
                rows_and_checkpoint_move_together,
                a_reader_never_sees_one_without_the_other,
                the_faster_writer_wins,
                a_refused_commit_changes_nothing,
                the_last_change_of_a_key_counts,
                many_rows_are_committed_at_once,
                rows_are_scanned_in_order,
                many_rows_are_got_at_once,
                a_dropped_model_is_gone,
            }
            copy {
                a_copy_is_identical,
                a_copy_in_parts_is_identical,
                a_copy_continues_at_the_exact_head,
                a_copy_that_does_not_fit_is_refused,
                a_copy_within_its_stream_must_fit,
                an_altered_record_is_refused,
                a_removed_piece_is_copied,
                a_copy_needs_its_blobs,
                a_batch_that_was_whole_is_not_continued,
                times_go_on_from_a_copy,
            }
            tree {
                the_tree_is_that_of_the_headers,
                hashes_beyond_the_end_are_not_there,
                the_tree_goes_on_after_reopening,
                a_copy_has_the_same_tree,
            }
            redaction {
                removed_content_is_gone_and_headers_stay,
                a_repeated_redaction_is_answered,
                a_redaction_that_does_not_fit_changes_nothing,
                a_blob_goes_with_all_that_name_it,
                what_was_derived_goes_too,
                subscriptions_go_on_after_a_redaction,
                rows_folded_before_a_redaction_are_refused,
                a_redaction_lasts,
                a_redacted_log_is_copied,
                a_redaction_gives_the_log_another_secret,
            }
            lifecycle {
                reopening_gives_the_same_log,
                writing_goes_on_after_reopening,
                a_closed_log_does_nothing,
                closing_ends_every_wait,
                every_log_has_its_own_id,
            }
        }
    };
    (@tests $harness:expr => $($subject:ident { $($case:ident,)+ })+) => {
        $(
            mod $subject {
                #[allow(unused_imports)]
                use super::*;
                $(
                    #[test]
                    fn $case() {
                        $crate::conformance::$subject::$case(&$harness);
                    }
                )+
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    /// A case that the macro does not list would be a test that never runs.
    #[test]
    fn every_case_is_listed() {
        let list = include_str!("conformance.rs");
        let subjects = [
            ("append", include_str!("conformance/append.rs")),
            ("blobs", include_str!("conformance/blobs.rs")),
            ("cancellation", include_str!("conformance/cancellation.rs")),
            ("content", include_str!("conformance/content.rs")),
            ("copy", include_str!("conformance/copy.rs")),
            ("chains", include_str!("conformance/chains.rs")),
            ("expectations", include_str!("conformance/expectations.rs")),
            ("idempotency", include_str!("conformance/idempotency.rs")),
            ("lifecycle", include_str!("conformance/lifecycle.rs")),
            ("names", include_str!("conformance/names.rs")),
            ("read_models", include_str!("conformance/read_models.rs")),
            ("reads", include_str!("conformance/reads.rs")),
            ("redaction", include_str!("conformance/redaction.rs")),
            ("tail", include_str!("conformance/tail.rs")),
            ("tree", include_str!("conformance/tree.rs")),
        ];
        for (subject, source) in subjects {
            let module = format!("{:12}{subject} {{", "");
            let (_, section) = list.split_once(&module).expect("the subject is listed");
            let (section, _) = section.split_once('}').expect("the list ends");
            let listed: Vec<&str> = section
                .split(',')
                .map(str::trim)
                .filter(|c| !c.is_empty())
                .collect();
            let written: Vec<&str> = source
                .lines()
                .filter_map(|line| line.strip_prefix("pub fn "))
                .filter_map(|line| line.split_once('(').map(|(name, _)| name))
                .collect();
            assert_eq!(
                listed, written,
                "the cases of {subject}, listed and written"
            );
        }
    }
}
