//! The ports' conformance suite, over the store on PostgreSQL.

mod plain {
    annals_event_log::conformance_suite!(crate::support::Postgres::new(""));
}

/// With notifications the cases about waiting are the ones that differ.
mod with_notifications {
    use annals_event_log::conformance::{lifecycle, tail};

    use crate::support::Postgres;

    #[test]
    fn a_live_tail_sees_each_record_once() {
        tail::a_live_tail_sees_each_record_once(&Postgres::new("&notify=true"));
    }

    #[test]
    fn waiting_ends_when_the_watermark_moves() {
        tail::waiting_ends_when_the_watermark_moves(&Postgres::new("&notify=true"));
    }

    #[test]
    fn closing_ends_every_wait() {
        lifecycle::closing_ends_every_wait(&Postgres::new("&notify=true"));
    }
}
