//! The pages in a real browser: headless Chromium, where it is installed (`make setup` does so on Debian and Ubuntu).

mod axe;
mod driver;
mod given;
mod home;
mod phone;
mod typing;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::{BrowserLogEntry, CapabilitiesHelper, ChromiumLikeCapabilities};

use self::driver::{Client, Driver};
use crate::pages::addresses;
use crate::support::{CALL, INTENT, Place, RUN, TASK, Viewing, story, uuid};

/// A browser at work; none where there is none.
struct Browser {
    driver: WebDriver,
    _process: Driver,
}

impl Browser {
    async fn start() -> Option<Browser> {
        Browser::start_with(&[]).await
    }

    /// Starts it with further arguments.
    async fn start_with(more: &[&str]) -> Option<Browser> {
        let process = match Driver::start() {
            Ok(process) => process,
            Err(missing) => {
                assert!(std::env::var_os("CI").is_none(), "{missing}");
                eprintln!("NOT RUN: {missing}");
                return None;
            }
        };
        let mut wanted = DesiredCapabilities::chrome();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--window-size=1280,900",
        ];
        for argument in arguments.iter().chain(more) {
            wanted.add_arg(argument).unwrap();
        }
        wanted
            .set("goog:loggingPrefs", json!({ "browser": "ALL" }))
            .unwrap();
        let address = format!("http://127.0.0.1:{}", process.port);
        let builder = WebDriver::builder(address, wanted).client(Client);
        let driver = builder.connect().await.expect("the browser starts");
        Some(Browser {
            driver,
            _process: process,
        })
    }

    async fn goto(&self, viewing: &Viewing, path: &str) {
        let address = format!("http://{}{path}", viewing.host());
        self.driver.goto(address).await.unwrap();
    }

    /// What the page's console says that is wrong.
    async fn errors(&self) -> Vec<String> {
        let entries: Vec<BrowserLogEntry> = self.driver.get_log("browser").await.unwrap();
        let wrong = entries
            .into_iter()
            .filter(|entry| entry.level != "INFO" && entry.level != "DEBUG");
        wrong.map(|entry| entry.message).collect()
    }

    async fn run(&self, script: &str) -> Value {
        let ran = self.driver.execute(script, Vec::new()).await.unwrap();
        ran.json().clone()
    }

    /// Waits until a script's answer is true.
    async fn until(&self, script: &str) {
        let began = Instant::now();
        while self.run(script).await != json!(true) {
            assert!(began.elapsed() < Duration::from_secs(120), "{script}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn text(&self) -> String {
        self.run("return document.querySelector('main').innerText")
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    async fn press(&self, key: impl Into<TypingData>) {
        let chain = self.driver.action_chain();
        chain.send_keys(key).perform().await.unwrap();
    }

    /// Keeps a picture for people where the environment says where to.
    async fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("ANNALS_SCREENSHOTS") {
            let folder = PathBuf::from(folder);
            std::fs::create_dir_all(&folder).unwrap();
            let file = folder.join(format!("{name}.png"));
            self.driver.screenshot(&file).await.unwrap();
        }
    }
}

#[test]
fn pages_work_in_a_browser() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let Some(browser) = Browser::start().await else {
            return;
        };
        pages_load_without_errors_and_run_no_script(&browser, &viewing).await;
        the_slider_shows_what_at_shows(&browser, &viewing).await;
        the_keyboard_reaches_everything(&browser, &viewing).await;
        a_conversation_goes_by_keyboard(&browser, &viewing).await;
        typing::suggestions_appear_while_typing(&browser, &viewing).await;
        nobody_is_kept_out(&browser, &viewing).await;
        phones_scroll_in_one_direction(&browser, &viewing).await;
        phone::pages_fit_a_phone(&browser, &viewing).await;
        sessions_follow_each_other_by_keyboard(&browser, &viewing, &place).await;
        a_new_event_appears(&browser, &viewing, &place).await;
        browser.driver.quit().await.unwrap();
    });
}

async fn pages_load_without_errors_and_run_no_script(browser: &Browser, viewing: &Viewing) {
    for address in addresses() {
        browser.goto(viewing, &address).await;
        browser
            .until("return document.querySelector('.live.on') !== null")
            .await;
        let title = browser.driver.title().await.unwrap();
        assert!(
            title.ends_with("annals") && title != "owned",
            "{address}: {title}"
        );
        let foreign = "return document.querySelectorAll('main script, main img').length";
        assert_eq!(browser.run(foreign).await, json!(0), "{address}");
        assert_eq!(browser.errors().await, Vec::<String>::new(), "{address}");
        let name = address
            .trim_start_matches('/')
            .replace(['/', '?', '='], "-");
        browser
            .picture(if name.is_empty() { "overview" } else { &name })
            .await;
    }
    // What was recorded is there, as a text.
    browser
        .goto(viewing, &format!("/objects/{}", uuid(INTENT)))
        .await;
    assert!(
        browser
            .text()
            .await
            .contains("<script>document.title='owned'</script>")
    );
    browser
        .goto(viewing, &format!("/objects/{}", uuid(CALL)))
        .await;
    assert!(browser.text().await.contains("</pre><script>"));
}

async fn the_slider_shows_what_at_shows(browser: &Browser, viewing: &Viewing) {
    let run = format!("/objects/{}", uuid(RUN));
    let history = viewing.data(&format!("{run}/history?limit=200"));
    let all = history["events"].as_array().unwrap().len();
    browser.goto(viewing, &run).await;
    for version in [3, 1, 6] {
        let slide = format!(
            "const range = document.querySelector('.moment input[type=range]'); range.value = {version}; \
             range.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        );
        browser.run(&slide).await;
        browser.until(&format!("return document.querySelector('.moment .said').innerText.includes('{version} of {all} events')")).await;
        let slid = browser.text().await;
        let address = browser.driver.current_url().await.unwrap();
        let at = address.query().unwrap_or_default().to_owned();
        assert!(
            at.starts_with("at="),
            "the address says the moment: {address}"
        );
        browser.goto(viewing, &format!("{run}?{at}")).await;
        assert_eq!(browser.text().await, slid, "version {version}");
        let status = viewing.data(&format!("/objects/{}?{at}", uuid(RUN)));
        let status = status["row"]["status"].as_str().unwrap().to_owned();
        assert!(slid.contains(&status), "{status}: {slid}");
        browser.picture(&format!("slider-{version}")).await;
    }
    browser.press("]").await;
    browser
        .until(&format!(
            "return document.querySelector('.moment .said').innerText.includes('7 of {all} events')"
        ))
        .await;
    browser.press("n").await;
    browser
        .until("return document.querySelector('.moment .said').innerText.startsWith('Now')")
        .await;
    assert_eq!(browser.errors().await, Vec::<String>::new());
}

async fn the_keyboard_reaches_everything(browser: &Browser, viewing: &Viewing) {
    for address in [
        "/".to_owned(),
        format!("/objects/{}/timeline", uuid(RUN)),
        "/inbox".to_owned(),
        "/search?q=cache".to_owned(),
        format!("/sessions/{}", uuid(TASK)),
    ] {
        browser.goto(viewing, &address).await;
        let all = "return [...document.querySelectorAll('a[href], button, input, select, summary')].filter(it => it.checkVisibility() && it.type !== 'hidden').length";
        let all = browser.run(all).await.as_u64().unwrap();
        browser
            .run("document.activeElement.blur(); window.reached = new Set();")
            .await;
        for _ in 0..all * 2 {
            browser.press(Key::Tab).await;
            let note = "const it = document.activeElement; if (it && it !== document.body) window.reached.add(it); return window.reached.size >= arguments.length";
            browser.run(note).await;
        }
        let missed = "return [...document.querySelectorAll('a[href], button, input, select, summary')].filter(it => it.checkVisibility() && it.type !== 'hidden' && !window.reached.has(it)).map(it => it.outerHTML.slice(0, 120))";
        assert_eq!(browser.run(missed).await, json!([]), "{address}");
    }
    browser.goto(viewing, "/log").await;
    browser.press("j").await;
    browser.press("j").await;
    let row = browser
        .run("return document.activeElement.closest('tr')?.rowIndex")
        .await;
    assert_eq!(row, json!(2), "j leads to the next row");
    browser.press("/").await;
    browser
        .until("return location.pathname === '/search' && document.readyState === 'complete'")
        .await;
    browser.press("/").await;
    browser
        .until("return document.activeElement.name === 'q'")
        .await;
    browser.goto(viewing, "/log").await;
    browser.press("?").await;
    browser
        .until("return document.querySelector('#keys').open")
        .await;
    browser.press(Key::Escape).await;
    browser
        .until("return !document.querySelector('#keys').open")
        .await;
}

/// The keys of a conversation: turns, errors, folds, the find box, answers only, the tabs.
async fn a_conversation_goes_by_keyboard(browser: &Browser, viewing: &Viewing) {
    let session = format!("/sessions/{}", uuid(TASK));
    browser.goto(viewing, &session).await;
    browser.press("j").await;
    browser.press("j").await;
    let here = "return [...document.querySelectorAll('#turns .step')].indexOf(document.querySelector('.step.here'))";
    assert!(browser.run(here).await.as_i64().unwrap() >= 1, "j goes on");
    browser.press("e").await;
    browser
        .until("return document.querySelector('.step.here .call.bad') !== null")
        .await;
    browser.press("o").await;
    let folded = "return document.querySelector('.step.here .call.bad').open";
    assert_eq!(browser.run(folded).await, json!(false), "o folds");
    browser.press("a").await;
    browser
        .until("return document.documentElement.classList.contains('answers-only')")
        .await;
    browser.press("a").await;
    browser.press("/").await;
    browser
        .until("return document.activeElement.id === 'find-here'")
        .await;
    // Who leaves the box before the matches are there is not taken back to it.
    browser.press("cargo").await;
    let chain = browser.driver.action_chain();
    let chain = chain.send_keys(Key::Enter).send_keys(Key::Escape);
    chain.perform().await.unwrap();
    browser
        .until(
            "return /^[1-9][0-9]* of [1-9]/.test(document.querySelector('.bar output').innerText)",
        )
        .await;
    let left = "return document.activeElement.id !== 'find-here'";
    assert_eq!(browser.run(left).await, json!(true));
    browser.press("u").await;
    browser
        .until("return location.search.includes('layout=split')")
        .await;
    browser.goto(viewing, &session).await;
    browser.press("4").await;
    browser
        .until("return location.pathname.endsWith('/files') && document.readyState === 'complete'")
        .await;
    // The search box is everywhere, and time travel is shown on request.
    let chain = browser.driver.action_chain();
    let chain = chain
        .key_down(Key::Control)
        .send_keys("k")
        .key_up(Key::Control);
    chain.perform().await.unwrap();
    browser
        .until("return document.activeElement.id === 'find-all'")
        .await;
    browser.press(Key::Escape).await;
    let shown = "return document.querySelector('.moment').checkVisibility()";
    assert_eq!(browser.run(shown).await, json!(false));
    browser.press("t").await;
    browser.until(shown).await;
    assert_eq!(browser.errors().await, Vec::<String>::new());
}

/// The next and the previous session of the list, by their keys.
async fn sessions_follow_each_other_by_keyboard(
    browser: &Browser,
    viewing: &Viewing,
    place: &Place,
) {
    let (task, run) = (uuid(0xb01), uuid(0xb02));
    place.agent("create_task", json!({ "id": task, "title": "Another" }));
    place.agent("create_run", json!({ "id": run, "task": task }));
    place.agent(
        "record_tool_invocation",
        json!({ "run": run, "tool_name": "bash", "status": "ok" }),
    );
    browser.goto(viewing, &format!("/sessions/{task}")).await;
    browser.picture("neighbours").await;
    for (key, other) in [("J", uuid(TASK)), ("K", task)] {
        browser.press(key).await;
        let is_there = format!(
            "return location.pathname === '/sessions/{other}' && document.readyState === 'complete' && document.querySelector('.live.on') !== null"
        );
        browser.until(&is_there).await;
    }
    assert_eq!(browser.errors().await, Vec::<String>::new());
}

/// What people need who see, hear or type in other ways, as far as axe-core knows it.
async fn nobody_is_kept_out(browser: &Browser, viewing: &Viewing) {
    let Some(axe) = axe::script() else {
        return;
    };
    let mut wrong = Vec::new();
    for address in addresses() {
        browser.goto(viewing, &address).await;
        browser.run(&axe).await;
        let found = browser.driver.execute_async(axe::RUN, Vec::new()).await;
        let found = found.unwrap().json().clone();
        let found: Vec<String> = serde_json::from_value(found).unwrap();
        wrong.extend(found.into_iter().map(|one| format!("{address}: {one}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

async fn phones_scroll_in_one_direction(browser: &Browser, viewing: &Viewing) {
    browser
        .driver
        .set_window_rect(0, 0, 400, 860)
        .await
        .unwrap();
    for address in addresses() {
        browser.goto(viewing, &address).await;
        let wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
        assert!(
            wide.as_i64().unwrap() <= 0,
            "{address} is {wide} pixels too wide for a phone"
        );
    }
    browser.goto(viewing, "/").await;
    browser.picture("phone").await;
    browser
        .driver
        .set_window_rect(0, 0, 1280, 900)
        .await
        .unwrap();
}

async fn a_new_event_appears(browser: &Browser, viewing: &Viewing, place: &Place) {
    browser.goto(viewing, "/intents").await;
    browser
        .until("return document.querySelector('.live.on') !== null")
        .await;
    browser.run("window.same = true;").await;
    place.human(
        "create_intent",
        json!({ "prompt": "Something new <b>bold</b>" }),
    );
    browser
        .until(
            "return document.querySelector('main').innerText.includes('Something new <b>bold</b>')",
        )
        .await;
    assert_eq!(
        browser.run("return window.same === true").await,
        json!(true),
        "the page was not loaded again"
    );
    // A page of the past stays as it is.
    browser.goto(viewing, "/intents?at=5").await;
    let before = browser.text().await;
    place.human("create_intent", json!({ "prompt": "Later" }));
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!(browser.text().await, before);
    assert_eq!(browser.errors().await, Vec::<String>::new());
}
