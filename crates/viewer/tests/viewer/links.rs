//! Every link of the pages leads to a page, of now and of the past.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::pages::addresses;
use crate::support::{Place, Viewing, story};

/// Pages of each shape whose own links are followed; each link of the pages that a test names is.
const EACH: usize = 3;

/// A page whose links are to be followed, and whether it was linked by one that a test names.
struct Linked {
    address: String,
    from: String,
    depth: usize,
}

#[test]
fn every_link_is_answered() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let past = place.annals.position().0 - 1;
    let mut next: VecDeque<Linked> = VecDeque::new();
    for address in addresses() {
        let is_of_now = ["/inbox", "/costs"]
            .iter()
            .any(|it| address.starts_with(it));
        let at = match address.contains('?') {
            true => format!("{address}&at={past}"),
            false => format!("{address}?at={past}"),
        };
        let both = [Some(address), Some(at).filter(|_| !is_of_now)];
        next.extend(both.into_iter().flatten().map(|address| Linked {
            address,
            from: "a test".to_owned(),
            depth: 0,
        }));
    }
    let mut known: BTreeSet<String> = next.iter().map(|it| it.address.clone()).collect();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut followed = 0;
    while let Some(page) = next.pop_front() {
        if page.depth > 1 {
            let seen = shapes.entry(shape(&page.address)).or_default();
            *seen += 1;
            if *seen > EACH {
                continue;
            }
        }
        let answer = viewing.get(&page.address);
        followed += 1;
        if !matches!(answer.status, 200 | 303) {
            let Linked { address, from, .. } = &page;
            wrong.push(format!("{}: {address} on {from}", answer.status));
            continue;
        }
        let mut links = links(&answer.body);
        links.extend((answer.status == 303).then(|| answer.header("location").to_owned()));
        for link in links {
            let link = link.split('#').next().unwrap_or_default().to_owned();
            if link.starts_with('/') && known.insert(link.clone()) {
                next.push_back(Linked {
                    address: link,
                    from: page.address.clone(),
                    depth: page.depth + 1,
                });
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{followed} links followed, {} shapes", shapes.len());
    assert!(followed > 500, "only {followed} links");
}

/// The addresses that a page leads to.
fn links(body: &str) -> Vec<String> {
    let links = body.split(" href=\"").skip(1);
    let links = links.filter_map(|rest| rest.split('"').next());
    links.map(|link| link.replace("&amp;", "&")).collect()
}

/// An address without ids, numbers and the values of parameters.
fn shape(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let part = |part: &str| match part.starts_with(|first: char| first.is_ascii_digit()) {
        true => "_".to_owned(),
        false => part.to_owned(),
    };
    let path: Vec<String> = path.split('/').map(part).collect();
    let mut names: Vec<&str> = query
        .split('&')
        .filter_map(|it| it.split('=').next())
        .collect();
    names.sort_unstable();
    format!("{}?{}", path.join("/"), names.join("&"))
}

#[test]
fn a_list_by_status_has_the_statuses_of_its_position() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let run = crate::support::uuid(crate::support::RUN);
    let of = |status: &str, at: u64| -> Vec<String> {
        let list = viewing.data(&format!("/runs?status={status}&at={at}"));
        let rows = list["rows"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut seen = BTreeSet::new();
    for at in 1..=place.annals.position().0 {
        let all = viewing.data(&format!("/runs?at={at}"));
        let status = all["rows"][0]["status"].as_str();
        for word in ["created", "patching", "validating", "completed"] {
            let expected = if status == Some(word) {
                vec![run.clone()]
            } else {
                Vec::new()
            };
            assert_eq!(of(word, at), expected, "{word} at {at}");
        }
        seen.extend(status.map(str::to_owned));
    }
    assert!(seen.len() >= 3, "{seen:?}");
    let page = viewing.get("/runs?status=patching&at=12").body;
    assert!(
        page.contains("href=\"/runs?status=failed&amp;at=12\""),
        "{page}"
    );
}
