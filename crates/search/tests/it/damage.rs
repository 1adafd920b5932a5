//! An index that is damaged, of another log, in use or not to be written.

use std::fs;
use std::os::unix::fs::symlink;

use annals::Annals;
use annals::blocking::Wait;
use annals_search::{Keeping, LogSearch, Using};

use crate::support::{Home, NOTHING, ask, files, found, open, positions};

#[test]
fn a_damaged_index_is_made_again() {
    let home = Home::new();
    let prompts: Vec<u64> = (0..20)
        .map(|n| home.submit(&format!("needle number{n}")))
        .collect();
    assert_eq!(found(&home.search(), "needle"), prompts);
    let number = files(&home.index()).len();
    assert!(number >= 5, "{:?}", files(&home.index()));
    for (file, how) in (0..number).flat_map(|file| (0..3).map(move |how| (file, how))) {
        let all = files(&home.index());
        let Some(path) = all.get(file) else { continue };
        let mut bytes = fs::read(path).unwrap();
        match how {
            0 => fs::remove_file(path).unwrap(),
            1 => fs::write(path, &bytes[..bytes.len() / 2]).unwrap(),
            _ => {
                let middle = bytes.len() / 2;
                if let Some(byte) = bytes.get_mut(middle) {
                    *byte ^= 0x55;
                }
                fs::write(path, &bytes).unwrap();
            }
        }
        let search = home.search();
        assert_eq!(
            found(&search, "needle"),
            prompts,
            "{} {how}",
            path.display()
        );
        assert_eq!(
            found(&search, "number7"),
            [prompts[7]],
            "{} {how}",
            path.display()
        );
    }
}

#[test]
fn the_index_of_another_log_is_not_used() {
    let (one, other) = (Home::new(), Home::new());
    let prompt = one.submit("needle");
    other.submit("hay");
    assert_eq!(found(&one.search(), "needle"), [prompt]);
    assert_eq!(found(&other.search(), "needle"), NOTHING);
    fs::remove_dir_all(one.index()).unwrap();
    fs::rename(other.index(), one.index()).unwrap();
    assert_eq!(found(&one.search(), "needle"), [prompt]);
}

#[test]
fn another_history_of_the_same_log_is_not_that_of_the_index() {
    let mut home = Home::new();
    home.submit("begin");
    home.annals.close().wait();
    let copy = home.log().with_file_name("copy");
    copy_folder(&home.log(), &copy);
    home.reopen();
    let lost = home.submit("lost");
    home.submit("lost, too");
    assert_eq!(found(&home.search(), "lost").first(), Some(&lost));
    // The log is put back as it was, and goes on otherwise; the index stays.
    home.annals.close().wait();
    let index = copy.join("search");
    fs::rename(home.index(), index).unwrap();
    let annals = open(&copy);
    let ada = annals::domain::ActorRef::human("ada");
    for prompt in ["needle", "hay", "straw"] {
        annals.by(&ada).submit(prompt).wait().unwrap();
    }
    let search = LogSearch::new(&annals, Some(&copy));
    assert_eq!(found(&search, "needle"), [lost]);
    assert_eq!(found(&search, "lost"), NOTHING);
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_link_is_not_followed() {
    let home = Home::new();
    let prompt = home.submit("needle");
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), home.index()).unwrap();
    let answer = ask(&home.search(), "needle", Using::Index);
    assert_eq!(
        (positions(&answer), answer.is_of_index),
        (vec![prompt], false)
    );
    assert!(answer.lag.is_some());
    assert_eq!(files(elsewhere.path()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_pipe_in_the_place_of_the_setting_stops_nobody() {
    let home = Home::new();
    let prompt = home.submit("needle");
    let search = home.search();
    search.keep(Keeping::Kept).unwrap();
    let setting = home.index().join("KEEPING");
    fs::remove_file(&setting).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&setting).status();
    assert!(made.unwrap().success());
    assert_eq!(search.keeping(), Keeping::Lazy);
    let answer = ask(&search, "needle", Using::Index);
    assert_eq!(positions(&answer), [prompt]);
}

#[test]
fn a_log_in_memory_is_searched_without_an_index() {
    let annals = Annals::open("memory:").wait().unwrap();
    let ada = annals::domain::ActorRef::human("ada");
    annals.by(&ada).submit("needle").wait().unwrap();
    let search = LogSearch::new(&annals, None);
    let answer = ask(&search, "needle", Using::Index);
    assert_eq!(
        (positions(&answer), answer.is_of_index, answer.lag),
        (vec![1], false, None)
    );
    assert_eq!(search.keeping(), Keeping::Off);
}

#[test]
fn an_index_goes_on_where_it_was() {
    let home = Home::new();
    let search = home.search();
    let mut all = Vec::new();
    for n in 0..30 {
        all.push(home.submit(&format!("needle {n}")));
        let fresh;
        let search = match n % 2 {
            0 => &search,
            _ => {
                fresh = home.search();
                &fresh
            }
        };
        assert_eq!(found(search, "needle"), all, "{n}");
    }
    let answer = ask(&search, "needle", Using::Log);
    assert_eq!(positions(&answer), all);
}

#[test]
fn two_at_once_answer_the_same() {
    let home = Home::new();
    let all: Vec<u64> = (0..300)
        .map(|n| home.submit(&format!("needle {n}")))
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let search = home.search();
                    let answer = ask(&search, "needle", Using::Index);
                    // Who comes second may be answered from what is there already.
                    let searched = answer.searched.0;
                    let expected: Vec<u64> =
                        all.iter().copied().filter(|it| *it <= searched).collect();
                    assert_eq!(positions(&answer), expected);
                    assert!(
                        searched == answer.end.0 || answer.lag.is_some(),
                        "{answer:?}"
                    );
                }
            });
        }
    });
    assert_eq!(found(&home.search(), "needle"), all);
}

#[test]
fn whether_an_index_is_kept_is_said_once() {
    let home = Home::new();
    let search = home.search();
    assert_eq!(search.keeping(), Keeping::Lazy);
    found(&search, "begin");
    assert!(search.has_index().wait().unwrap());
    search.keep(Keeping::Kept).unwrap();
    assert_eq!(home.search().keeping(), Keeping::Kept);
    assert!(search.has_index().wait().unwrap());
    search.keep(Keeping::Off).unwrap();
    assert_eq!(home.search().keeping(), Keeping::Off);
    assert!(!search.has_index().wait().unwrap());
    search.keep(Keeping::Lazy).unwrap();
    assert_eq!(home.search().keeping(), Keeping::Lazy);
}
