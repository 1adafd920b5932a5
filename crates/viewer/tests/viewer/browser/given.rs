//! The pages of a log that is given (`make browse LOG=DIR`): of imported recordings, or of a million events. What the pages lead
//! to is visited, a few pages of each kind.

use std::collections::{BTreeMap, HashSet, VecDeque};

use annals::OpenOptions;
use annals_viewer::ViewerOptions;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Browser, axe};
use crate::support::{Place, Viewing, story};

/// Pages of each kind that are visited: of a log that is given, and of a short one.
const EACH: [usize; 2] = [12, 2];
/// Milliseconds after which a page must be there, as the server and the browser take them.
const LATEST: f64 = 5_000.0;

/// What was seen of the pages of one kind.
#[derive(Default)]
struct Seen {
    server: Vec<f64>,
    loaded: Vec<f64>,
}

#[test]
fn a_given_log_in_a_browser() {
    let place = Place::new();
    story(&place);
    let given = std::env::var("ANNALS_VIEWER_LOG").ok();
    let viewing = match &given {
        Some(log) => of_log(log),
        None => Viewing::of(&place),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let Some(browser) = Browser::start().await else {
            return;
        };
        let each = EACH[usize::from(given.is_none())];
        let wrong = walk(&browser, &viewing, each).await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let runs = viewing.data("/runs?limit=200");
        let runs = runs["rows"].as_array().unwrap();
        for run in [0, runs.len() / 2, runs.len() - 1] {
            slide(&browser, &viewing, runs[run]["id"].as_str().unwrap()).await;
        }
        browser.driver.quit().await.unwrap();
    });
}

/// A viewer of a log in a folder, which it only reads.
fn of_log(log: &str) -> Viewing {
    let mut options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
    options.folder = Some(log.into());
    let reader = OpenOptions::new().read_only(true).open(log).unwrap();
    Viewing::over(reader, options)
}

/// Visits what the pages lead to, and says what is wrong with them.
async fn walk(browser: &Browser, viewing: &Viewing, each: usize) -> Vec<String> {
    let axe = axe::script();
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let mut known = HashSet::new();
    let mut wrong = Vec::new();
    let mut next = VecDeque::from(["/".to_owned(), "/search?q=test".to_owned()]);
    while let Some(address) = next.pop_front() {
        let kind = kind(&address);
        let of_kind = seen.entry(kind.clone()).or_default();
        if of_kind.server.len() == each {
            continue;
        }
        browser.goto(viewing, &address).await;
        let Some((server, loaded)) = judge(browser, &address, &mut wrong).await else {
            continue;
        };
        if of_kind.server.is_empty() {
            browser.picture(&format!("given{kind}")).await;
            if let Some(axe) = &axe {
                browser.run(axe).await;
                let found = browser.driver.execute_async(axe::RUN, Vec::new()).await;
                let found: Vec<String> =
                    serde_json::from_value(found.unwrap().json().clone()).unwrap();
                wrong.extend(found.into_iter().map(|one| format!("{address}: {one}")));
            }
        }
        of_kind.server.push(server);
        of_kind.loaded.push(loaded);
        let links = "return [...document.querySelectorAll('nav a[href], main a[href]')].map(it => new URL(it.getAttribute('href'), location.href)) \
                     .filter(it => it.origin === location.origin && !it.pathname.startsWith('/api/')).map(it => it.pathname + it.search)";
        let links: Vec<String> = serde_json::from_value(browser.run(links).await).unwrap();
        next.extend(links.into_iter().filter(|link| known.insert(link.clone())));
    }
    table(&mut seen);
    wrong
}

/// What kind of page an address leads to: its path without ids and numbers.
fn kind(address: &str) -> String {
    let path = address.split('?').next().unwrap_or_default();
    let is_word = |part: &&str| {
        !part.starts_with(|first: char| first.is_ascii_digit()) && Uuid::try_parse(part).is_err()
    };
    let path: Vec<&str> = path.split('/').filter(is_word).collect();
    path.join("-")
}

/// What the server and the whole page took, in milliseconds; nothing where there is no page.
async fn judge(browser: &Browser, address: &str, wrong: &mut Vec<String>) -> Option<(f64, f64)> {
    browser
        .until("return document.readyState === 'complete'")
        .await;
    let times = "const it = performance.getEntriesByType('navigation')[0]; return [it.responseStatus, it.responseEnd - it.requestStart, it.loadEventEnd]";
    browser
        .until("return performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        .await;
    let times: Vec<f64> = serde_json::from_value(browser.run(times).await).unwrap();
    let [status, server, loaded] = times[..] else {
        panic!("{times:?}");
    };
    let title = browser.driver.title().await.unwrap();
    let foreign = browser
        .run("return document.querySelectorAll('main script, main img').length")
        .await;
    let errors = browser.errors().await;
    let wide = browser
        .run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        .await;
    let is_whole = status == 200.0
        && title.ends_with("annals")
        && foreign == json!(0)
        && errors.is_empty()
        && wide.as_i64().unwrap() <= 0
        && loaded < LATEST;
    if !is_whole {
        wrong.push(format!("{address}: status {status}, {title:?}, {foreign} foreign, {errors:?}, {wide} pixels too wide, {loaded} ms"));
    }
    (status == 200.0).then_some((server, loaded))
}

/// Prints what the pages took.
fn table(seen: &mut BTreeMap<String, Seen>) {
    println!("pages  server: median, most  loaded: median, most (ms)");
    for (kind, seen) in seen {
        let of = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            (
                times.get(times.len() / 2).copied().unwrap_or(0.0),
                times.last().copied().unwrap_or(0.0),
            )
        };
        let (server, loaded) = (of(&mut seen.server), of(&mut seen.loaded));
        println!(
            "{:>5}  {:>6.1} {:>6.1}  {:>6.1} {:>6.1}  {kind}",
            seen.server.len(),
            server.0,
            server.1,
            loaded.0,
            loaded.1
        );
    }
}

/// The slider of a run shows what its page at that position shows, and what the API says.
async fn slide(browser: &Browser, viewing: &Viewing, run: &str) {
    let page = format!("/objects/{run}");
    browser.goto(viewing, &page).await;
    let all = browser
        .run("return Number(document.querySelector('.moment input[type=range]').max)")
        .await;
    let all = all.as_u64().unwrap();
    for version in [all / 2, 1, all - 1] {
        let version = version.max(1);
        let moved = format!(
            "const range = document.querySelector('.moment input[type=range]'); range.value = {version}; \
             range.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        );
        browser.run(&moved).await;
        browser
            .until(&format!("return document.querySelector('.moment .said').innerText.replaceAll(/[^0-9a-z ]/g, '').includes('{version} of {all} events')"))
            .await;
        let slid = browser.text().await;
        let address = browser.driver.current_url().await.unwrap();
        let at = address.query().unwrap_or_default().to_owned();
        browser.goto(viewing, &format!("{page}?{at}")).await;
        assert_eq!(browser.text().await, slid, "{page}, version {version}");
        let data: Value = viewing.data(&format!("{page}?{at}"));
        let status = data["row"]["status"].as_str().unwrap().to_owned();
        assert!(
            slid.contains(&status),
            "{page}, version {version}: {status}"
        );
    }
    assert_eq!(browser.errors().await, Vec::<String>::new());
}
