//! Tickets that sessions read: where each was read first and last.

use annals_domain::session::ItemStatus;

use super::Fold;
use crate::catalogue::keys;
use crate::catalogue::work_items::{Place, Read};

impl Fold<'_> {
    pub(super) fn work_items_listed(&mut self, items: &[ItemStatus]) {
        for (number, item) in (0..).zip(items) {
            self.work_item_read(item, number, false);
        }
    }

    pub(super) fn work_item_queried(&mut self, item: &ItemStatus) {
        self.work_item_read(item, 0, true);
    }

    /// A ticket was read, as the one with this number in the event; with its
    /// details or without.
    fn work_item_read(&mut self, item: &ItemStatus, number: u32, in_detail: bool) {
        let place = Place {
            position: self.step.position(),
            number,
        };
        let mark = keys::work_item_mark(&item.id);
        let key = keys::work_item(&mark);
        let known = self.rows.get(&key).and_then(|value| Read::from_row(value));
        if known.is_none() {
            let listed = keys::work_item_place(place.position, place.number);
            self.rows.put(&listed, &mark);
        }
        let details = in_detail.then_some(place.position);
        let read = Read {
            first: known.map_or(place, |known| known.first),
            last: place,
            details: details.or(known.and_then(|known| known.details)),
        };
        self.rows.put(&key, &read.to_row());
    }
}
