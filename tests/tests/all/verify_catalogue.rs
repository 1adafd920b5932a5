//! The catalogue's rows are compared with what the whole log gives: everything that is altered in
//! them is found, and nothing else.

use annals::event_log::Position;
use annals::projections::{CatalogueFault, CatalogueReport};
use annals::store_rocks::VerifyReport;
use annals::{Annals, OpenOptions};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::sample::Index;
use rocksdb::IteratorMode;
use tempfile::TempDir;

use crate::support::{raw, run_with_calls};

/// A log whose rows are those of its end, or behind it.
fn log(is_rebuilt: bool) -> (TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let url = path.to_str().unwrap().to_owned();
    let annals = block_on(Annals::open(&url)).unwrap();
    run_with_calls(&annals, 5);
    if is_rebuilt {
        block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    }
    run_with_calls(&annals, 3);
    block_on(annals.close());
    (home, url)
}

fn verify(url: &str) -> (VerifyReport, CatalogueReport) {
    let annals = OpenOptions::new().read_only(true).open(url).unwrap();
    let rocks = annals.rocks().unwrap();
    rocks.stand_still().unwrap();
    let report = rocks.verify(&mut |_| {}).unwrap();
    let catalogue = block_on(annals.index().verify(&mut |_| {})).unwrap();
    block_on(annals.close());
    (report, catalogue)
}

fn flip(bytes: &[u8], bit: Index) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    if !bytes.is_empty() {
        let bit = bit.index(bytes.len() * 8);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
    flipped
}

#[test]
fn rows_that_are_right_are_found_to_be_right() {
    for is_rebuilt in [false, true] {
        let (_home, url) = log(is_rebuilt);
        let (report, catalogue) = verify(&url);
        assert!(report.is_sound(), "{:#?}", report.findings);
        assert!(catalogue.is_sound(), "{:#?}", catalogue.findings);
        assert_eq!(catalogue.position, report.watermark);
        assert!(catalogue.rows > 10, "{}", catalogue.rows);
        // A handle that writes may ask too, with rows that are behind what it has folded.
        let annals = block_on(Annals::open(&url)).unwrap();
        run_with_calls(&annals, 2);
        let mut last = Position::START;
        let again = block_on(annals.index().verify(&mut |position| last = position)).unwrap();
        assert!(again.is_sound(), "{:#?}", again.findings);
        assert_eq!((again.position, last), (report.watermark, report.watermark));
    }
}

#[test]
fn a_row_that_is_missing_altered_or_should_not_be_there_is_named() {
    let (_home, url) = log(false);
    let db = raw(&url);
    let models = db.cf_handle("models").unwrap();
    let prefix = b"catalogue.13.1\0r";
    let objects: Vec<_> = db
        .prefix_iterator_cf(models, [&prefix[..], b"o"].concat())
        .map(Result::unwrap)
        .take(2)
        .collect();
    let [(gone, _), (altered, row)] = &objects[..] else {
        panic!("two objects")
    };
    db.delete_cf(models, gone).unwrap();
    let mut row = row.to_vec();
    *row.last_mut().unwrap() ^= 1;
    db.put_cf(models, altered, row).unwrap();
    db.put_cf(models, [&prefix[..], b"zz"].concat(), b"row")
        .unwrap();
    drop(db);
    let (report, catalogue) = verify(&url);
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(catalogue.total_findings, 3);
    let [one, two, three] = &catalogue.findings[..] else {
        panic!("{:#?}", catalogue.findings)
    };
    assert!(matches!(one, CatalogueFault::Missing { row } if row.starts_with("of the object ")));
    assert!(matches!(two, CatalogueFault::Different { .. }), "{two}");
    assert_eq!(
        *three,
        CatalogueFault::Surplus {
            row: "'z' 7a".into()
        }
    );
    // Rebuilt rows are right.
    let annals = block_on(Annals::open(&url)).unwrap();
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    block_on(annals.close());
    let (report, catalogue) = verify(&url);
    assert!(report.is_sound() && catalogue.is_sound());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn any_flipped_bit_of_the_rows_is_found(
        is_rebuilt: bool,
        flips in prop::collection::vec((any::<Index>(), any::<bool>(), any::<Index>()), 20),
    ) {
        let (_home, url) = log(is_rebuilt);
        let db = raw(&url);
        let models = db.cf_handle("models").unwrap();
        let rows: Vec<_> = db.iterator_cf(models, IteratorMode::Start).map(Result::unwrap).collect();
        for (which, of_key, bit) in flips {
            let (key, value) = &rows[which.index(rows.len())];
            let of_key = of_key || value.is_empty();
            let (new_key, new_value) = match of_key {
                true => (flip(key, bit), value.to_vec()),
                false => (key.to_vec(), flip(value, bit)),
            };
            let hidden = db.get_cf(models, &new_key).unwrap();
            db.delete_cf(models, key).unwrap();
            db.put_cf(models, &new_key, &new_value).unwrap();
            let (report, catalogue) = verify(&url);
            db.delete_cf(models, &new_key).unwrap();
            if let Some(hidden) = hidden {
                db.put_cf(models, &new_key, hidden).unwrap();
            }
            db.put_cf(models, key, value).unwrap();
            // Since when the named rows are the current ones is only compared with how far they
            // are folded: an earlier position says nothing that is ever asked.
            let carries_nothing = &**key == b"catalogue.13\0c" && !of_key && *new_value < **value;
            prop_assert_eq!(
                report.is_sound() && catalogue.is_sound(),
                carries_nothing,
                "{:?} as {:?}: {:?} as {:?}", key, new_key, value, new_value
            );
        }
        let (report, catalogue) = verify(&url);
        prop_assert!(report.is_sound() && catalogue.is_sound());
    }
}
