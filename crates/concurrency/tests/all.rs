//! Each model under many schedules; the smallest ones under every schedule there is.
//!
//! `ANNALS_SCHEDULES=20000` runs more of them, `ANNALS_SEED=N` others, and
//! `ANNALS_REPLAY=SCHEDULE` one again, for the test that printed it.

use annals_concurrency::models::{bulk, follow, keyed_locks, latch, queue, watermark, writer};
use annals_concurrency::schedules::{exhaust, explore};

/// Makes a test of each model, by a name that says which part it is of.
macro_rules! explored {
    ($($test:ident: $module:ident::$model:ident;)+) => {
        $(#[test]
        fn $test() {
            explore(stringify!($test), $module::$model);
        })+
    };
}

explored! {
    queue_every_job_is_taken_once_and_in_order: queue::every_job_is_taken_once_and_in_order;
    queue_closing_wakes_every_caller: queue::closing_wakes_every_caller;
    queue_closing_wakes_a_caller_though_nothing_is_taken: queue::closing_wakes_a_caller_though_nothing_is_taken;
    queue_no_caller_waits_for_a_writer_that_has_ended: queue::no_caller_waits_for_a_writer_that_has_ended;
    queue_a_caller_that_gives_up_takes_no_room: queue::a_caller_that_gives_up_takes_no_room;

    writer_every_job_is_answered: writer::every_job_is_answered;
    writer_every_job_is_answered_when_the_log_is_closed_beside_it: writer::every_job_is_answered_when_the_log_is_closed_beside_it;
    writer_every_job_is_answered_when_a_write_fails: writer::every_job_is_answered_when_a_write_fails;
    writer_every_job_is_answered_when_staging_fails: writer::every_job_is_answered_when_staging_fails;
    writer_every_job_is_answered_when_the_thread_is_lost: writer::every_job_is_answered_when_the_thread_is_lost;
    writer_every_job_is_answered_when_the_thread_cannot_start: writer::every_job_is_answered_when_the_thread_cannot_start;
    writer_a_caller_that_gives_up_disturbs_no_other: writer::a_caller_that_gives_up_disturbs_no_other;
    writer_work_between_groups_has_the_log_for_itself: writer::work_between_groups_has_the_log_for_itself;
    writer_work_in_steps_is_done_before_the_log_closes: writer::work_in_steps_is_done_before_the_log_closes;
    writer_the_thread_does_not_wait_for_itself: writer::the_thread_does_not_wait_for_itself;

    watermark_it_rises_and_wakes_all: watermark::it_rises_and_wakes_all;
    watermark_closing_wakes_all_and_hides_no_move: watermark::closing_wakes_all_and_hides_no_move;

    latch_everyone_hears_of_it_and_it_stays: latch::everyone_hears_of_it_and_it_stays;
    slot_is_released_when_the_last_reader_lets_go: latch::a_slot_is_released_when_the_last_reader_lets_go;

    keyed_locks_exclude_each_other_without_a_deadlock: keyed_locks::turns_exclude_each_other_without_a_deadlock;
    keyed_locks_who_gives_up_leaves_nothing_behind: keyed_locks::who_gives_up_leaves_nothing_behind;

    bulk_a_writer_goes_on_when_its_owner_goes: bulk::a_writer_goes_on_when_its_owner_goes;
    bulk_an_append_that_is_not_polled_keeps_nobody_waiting: bulk::an_append_that_is_not_polled_keeps_nobody_waiting;
    bulk_every_append_is_polled_while_the_writer_waits: bulk::every_append_is_polled_while_the_writer_waits;

    follow_a_subscriber_sees_each_record_once_and_in_order: follow::a_subscriber_sees_each_record_once_and_in_order;
    follow_a_subscription_ends_when_the_log_is_closed: follow::a_subscription_ends_when_the_log_is_closed;
}

/// More than any of the small models has.
const LIMIT: usize = 200_000;

#[test]
fn watermark_a_waiter_is_woken_by_a_move_under_every_schedule() {
    exhaust(
        "woken by a move",
        LIMIT,
        watermark::a_waiter_is_woken_by_a_move,
    );
}

#[test]
fn watermark_a_waiter_is_woken_by_the_close_under_every_schedule() {
    exhaust(
        "woken by the close",
        LIMIT,
        watermark::a_waiter_is_woken_by_the_close,
    );
}

#[test]
fn latch_a_waiter_hears_of_it_under_every_schedule() {
    exhaust("a waiter hears of it", LIMIT, latch::a_waiter_hears_of_it);
}

/// The models of a bulk writer find what they are for.
#[test]
#[should_panic(expected = "deadlock")]
fn bulk_a_lock_across_an_await_is_found() {
    explore("a lock across an await", bulk::a_lock_across_an_await_hangs);
}
