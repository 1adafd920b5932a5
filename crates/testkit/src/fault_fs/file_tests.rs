//! Files and what cuts leave of them, compared with a model of plain bytes.

use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::content::PAGE;
use super::cut::{Knobs, Survival, Unwritten};
use super::file::File;
use super::remains::drawn;

#[derive(Clone, Debug)]
enum Step {
    Write { at: usize, bytes: Vec<u8> },
    Resize { to: usize },
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0usize..20_000, 0usize..9_000, 1u8..)
            .prop_map(|(at, len, byte)| Step::Write { at, bytes: vec![byte; len] }),
        2 => (0usize..24_000).prop_map(|to| Step::Resize { to }),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 0..12)
}

/// The contents that the file had since its last sync, the synced one first, and the
/// writes since then.
struct Model {
    states: Vec<Vec<u8>>,
    writes: Vec<(usize, Vec<u8>)>,
}

fn run(steps: &[Step]) -> (File, Model) {
    let mut file = File::default();
    let mut model = Model {
        states: vec![Vec::new()],
        writes: Vec::new(),
    };
    for step in steps {
        let mut content = model.states.last().unwrap().clone();
        match step {
            Step::Write { at, bytes } => {
                file.write(*at as u64, bytes);
                if !bytes.is_empty() {
                    content.resize(content.len().max(at + bytes.len()), 0);
                    content[*at..at + bytes.len()].copy_from_slice(bytes);
                    model.writes.push((*at, bytes.clone()));
                }
            }
            Step::Resize { to } => {
                file.resize(*to as u64);
                content.resize(*to, 0);
            }
            Step::Sync => {
                file.sync();
                model = Model {
                    states: vec![content.clone()],
                    writes: Vec::new(),
                };
            }
        }
        model.states.push(content);
    }
    (file, model)
}

fn whole(content: &super::content::Content) -> Vec<u8> {
    content.read(0, u64::MAX)
}

fn cut(file: &mut File, seed: u64, knobs: Knobs) -> Vec<u8> {
    let (content, _) = drawn(file, &knobs, &mut StdRng::seed_from_u64(seed));
    whole(&content)
}

proptest! {
    #[test]
    fn processes_see_what_they_wrote(steps in steps()) {
        let (mut file, model) = run(&steps);
        prop_assert_eq!(&whole(file.visible()), model.states.last().unwrap());
        prop_assert_eq!(&whole(file.durable()), &model.states[0]);
        prop_assert!(!file.is_synced() || model.states.first() == model.states.last());
        file.sync();
        prop_assert!(file.is_synced());
        prop_assert_eq!(&whole(file.durable()), model.states.last().unwrap());
    }

    #[test]
    fn a_cut_of_a_synced_file_changes_nothing(steps in steps(), seed: u64) {
        let (mut file, model) = run(&steps);
        file.sync();
        prop_assert_eq!(&cut(&mut file, seed, Knobs::default()), model.states.last().unwrap());
    }

    #[test]
    fn changes_in_order_leave_what_the_file_was_once(steps in steps(), seed: u64) {
        let (mut file, model) = run(&steps);
        let knobs = Knobs { writes: Survival::Prefix, tear: false, ..Knobs::default() };
        let left = cut(&mut file, seed, knobs);
        prop_assert!(model.states.contains(&left), "{} bytes", left.len());
    }

    #[test]
    fn each_byte_was_there_once(steps in steps(), seed: u64) {
        let (mut file, model) = run(&steps);
        let knobs = Knobs { unwritten: Unwritten::Zeros, ..Knobs::default() };
        let left = cut(&mut file, seed, knobs);
        let sizes = || model.states.iter().map(Vec::len);
        prop_assert!((sizes().min().unwrap()..=sizes().max().unwrap()).contains(&left.len()));
        let shortest = sizes().min().unwrap();
        for (at, byte) in left.iter().enumerate() {
            let had = model.states[0].get(at) == Some(byte)
                || (at >= shortest && *byte == 0)
                || model.writes.iter().any(|(start, bytes)| {
                    at.checked_sub(*start).and_then(|within| bytes.get(within)) == Some(byte)
                });
            prop_assert!(had, "byte {at} is {byte}");
        }
    }

    #[test]
    fn a_seed_repeats_a_cut(steps in steps(), seed: u64) {
        let one = cut(&mut run(&steps).0, seed, Knobs::default());
        prop_assert_eq!(one, cut(&mut run(&steps).0, seed, Knobs::default()));
    }
}

/// Everything that the front page says may happen does, with some seed.
#[test]
fn cuts_differ() {
    let seen = |knobs: Knobs, is_so: fn(&[u8]) -> bool| {
        (0..500).any(|seed| {
            let mut file = File::default();
            file.write(0, &[1; 100]);
            file.sync();
            file.write(100, &[2; 10_000]);
            file.write(50, &[3; 10]);
            is_so(&cut(&mut file, seed, knobs))
        })
    };
    let all = Knobs::default();
    assert!(seen(all, |left| left == [1; 100]), "all lost");
    assert!(
        seen(all, |left| left.len() == 10_100
            && left[50] == 3
            && left[9_000] == 2),
        "all kept"
    );
    assert!(
        seen(all, |left| left.len() > 100 && left.len() < 4096),
        "torn within a page"
    );
    assert!(
        seen(all, |left| left.len() > 4096 && left.len() % 512 == 0),
        "torn at a sector"
    );
    assert!(
        seen(all, |left| left.len() == 10_100 && left[5_000] == 0),
        "grown, and zeros"
    );
    assert!(
        seen(all, |left| left.len() == 10_100 && left[5_000] > 3),
        "grown, and garbage"
    );
    assert!(
        seen(all, |left| left.len() > 8192
            && left[200] != 2
            && left[8_192] == 2),
        "a hole"
    );
    assert!(
        seen(all, |left| left.len() == 100 && left[50] == 3),
        "the second write, not the first"
    );
    let no_tear = Knobs { tear: false, ..all };
    assert!(
        !seen(no_tear, |left| left.len() != 100 && left.len() != 10_100),
        "no tear"
    );
    let data_first = Knobs {
        size_without_data: false,
        tear: false,
        ..all
    };
    assert!(
        !seen(data_first, |left| left.len() > 100 && left[5_000] != 2),
        "grown without data"
    );
}

#[test]
fn what_follows_a_lost_truncation_is_lost_behind_its_end() {
    let mut file = File::default();
    file.write(0, &[1; 9_000]);
    file.sync();
    file.resize(100);
    file.write(0, &[2; 5_000]);
    for seed in 0..500 {
        let knobs = Knobs {
            unwritten: Unwritten::Zeros,
            ..Knobs::default()
        };
        let left = cut(&mut file.clone(), seed, knobs);
        let (old, new) = (
            left.iter().skip(100).any(|byte| *byte == 1),
            left.get(100..),
        );
        assert!(
            !old || new.is_some_and(|new| new.iter().all(|byte| *byte == 1)),
            "seed {seed}"
        );
    }
}

#[test]
fn a_failed_sync_forgets_what_it_should_have_written() {
    let mut file = File::default();
    file.write(0, &[1; 10]);
    file.sync();
    file.write(5, &[2; 10]);
    file.forget();
    assert_eq!(
        whole(file.visible()),
        [[1; 5].as_slice(), &[2; 10]].concat()
    );
    assert!(!file.is_synced());
    // The next sync says that all is well, and commits the size without the bytes.
    file.sync();
    assert!(!file.is_synced(), "what was forgotten is not durable");
    assert_eq!(
        whole(file.durable()),
        [[1; 10].as_slice(), &[0; 5]].concat()
    );
    // Bytes in the same page bring it back: a kernel writes whole pages.
    file.write(14, &[3]);
    file.sync();
    assert!(file.is_synced());
    assert_eq!(
        whole(file.durable()),
        [[1; 5].as_slice(), &[2; 9], &[3]].concat()
    );
}

#[test]
fn what_was_forgotten_comes_back_with_a_write_to_its_page_only() {
    let mut file = File::default();
    file.write(0, &[1; 3 * PAGE as usize]);
    file.forget();
    file.write(PAGE, &[2]);
    for seed in 0..50 {
        let knobs = Knobs {
            unwritten: Unwritten::Zeros,
            ..Knobs::default()
        };
        let left = cut(&mut file.clone(), seed, knobs);
        assert!(
            left.iter().take(PAGE as usize).all(|byte| *byte == 0),
            "page 0 is forgotten"
        );
    }
    file.sync();
    let left = whole(file.durable());
    assert_eq!((left[0], left[4096], left[4097], left[8192]), (0, 2, 1, 0));
}
