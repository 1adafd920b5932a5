//! The header's search box while a person types: a combobox whose list opens at a turn.

use serde_json::json;
use thirtyfour::prelude::*;

use super::{Browser, axe};
use crate::support::{TASK, Viewing, uuid};

/// The text of the option that is chosen; empty if none is.
const CHOSEN: &str =
    "return document.querySelector('#suggest [aria-selected=true]')?.innerText ?? ''";
const IS_CLOSED: &str = "const box = document.querySelector('#find-all'); return document.querySelector('#suggest').hidden && box.getAttribute('aria-expanded') === 'false' && !box.hasAttribute('aria-activedescendant')";

/// Goes to a page and types words into the box.
async fn typed(browser: &Browser, viewing: &Viewing, path: &str, words: &str) {
    browser.goto(viewing, path).await;
    let chain = browser.driver.action_chain();
    let chain = chain
        .key_down(Key::Control)
        .send_keys("k")
        .key_up(Key::Control);
    chain.perform().await.unwrap();
    browser.press(words).await;
}

async fn until_open(browser: &Browser) {
    browser
        .until("return document.querySelectorAll('#suggest .group [role=option]').length > 0")
        .await;
}

/// Checks the list with axe-core, if it is there.
async fn is_open_to_all(browser: &Browser) {
    let Some(axe) = axe::script() else {
        return;
    };
    browser.run(&axe).await;
    let found = browser.driver.execute_async(axe::RUN, Vec::new()).await;
    assert_eq!(found.unwrap().json(), &json!([]));
}

pub async fn suggestions_appear_while_typing(browser: &Browser, viewing: &Viewing) {
    typed(browser, viewing, "/", "c").await;
    browser.until(IS_CLOSED).await;
    browser.press("argo te").await;
    until_open(browser).await;
    let is_combobox = "const box = document.querySelector('#find-all'); return box.role === 'combobox' && box.getAttribute('aria-expanded') === 'true' && document.getElementById(box.getAttribute('aria-controls')).role === 'listbox'";
    assert_eq!(browser.run(is_combobox).await, json!(true));
    browser
        .until("return /^[1-9][0-9]* results? in 1 session/.test(document.querySelector('#suggest-said').textContent)")
        .await;
    let marks = "return [...document.querySelectorAll('#suggest .hit mark')].slice(0, 2).map(it => it.innerText)";
    assert_eq!(browser.run(marks).await, json!(["cargo", "test"]));
    browser.press(Key::Down).await;
    let active = "const box = document.querySelector('#find-all'); return document.activeElement === box && document.getElementById(box.getAttribute('aria-activedescendant')).matches('[role=option][aria-selected=true]')";
    assert_eq!(browser.run(active).await, json!(true));
    is_open_to_all(browser).await;
    browser.picture("typing").await;
    // Before the first entry is the box, and before the box the last entry.
    browser.press(Key::Up).await;
    assert_eq!(browser.run(CHOSEN).await, json!(""));
    browser.press(Key::Up).await;
    let last = browser.run(CHOSEN).await;
    assert_eq!(last, json!("All results for “cargo te”"));
    browser.press(Key::Escape).await;
    browser.until(IS_CLOSED).await;
    let kept = "const box = document.querySelector('#find-all'); return document.activeElement === box && box.value === 'cargo te'";
    assert_eq!(browser.run(kept).await, json!(true), "Esc keeps the words");
    browser.press(Key::Down).await;
    until_open(browser).await;
    browser.press(Key::Down).await;
    browser.press(Key::Enter).await;
    let opened = format!(
        "return location.pathname === '/sessions/{}' && /^#turn-[1-9]/.test(location.hash) && document.querySelector('.step.here')?.innerText.includes('cargo test') === true",
        uuid(TASK)
    );
    browser.until(&opened).await;
    // The list of prompts says which one is read.
    browser
        .until("const read = [...document.querySelectorAll('.rail ol a[aria-current]')]; return read.length === 1 && read[0].querySelector('.pn').textContent === '1'")
        .await;
    other_ways_out(browser, viewing).await;
    assert_eq!(browser.errors().await, Vec::<String>::new());
}

/// A press elsewhere closes the list, words without a match are reported, and Enter alone sends the form.
async fn other_ways_out(browser: &Browser, viewing: &Viewing) {
    typed(browser, viewing, "/log", "cache").await;
    until_open(browser).await;
    let heading = browser.driver.find(By::Css("main h1")).await.unwrap();
    heading.click().await.unwrap();
    browser.until(IS_CLOSED).await;
    typed(browser, viewing, "/log", "nothinglikeit").await;
    browser
        .until("return document.querySelector('#suggest .note')?.innerText === 'No turn has these words.'")
        .await;
    browser
        .until("return document.querySelector('#suggest-said').textContent === 'No results.'")
        .await;
    is_open_to_all(browser).await;
    browser.press(Key::Enter).await;
    browser
        .until("return location.pathname === '/search' && location.search === '?q=nothinglikeit'")
        .await;
    // A past moment is kept.
    let end = viewing.data("/log")["events"][0]["position"].clone();
    typed(browser, viewing, &format!("/log?at={end}"), "cache").await;
    until_open(browser).await;
    let past = format!(
        "return [...document.querySelectorAll('#suggest a')].every(it => it.href.includes('at={end}'))"
    );
    assert_eq!(browser.run(&past).await, json!(true));
    let hit = browser.driver.find(By::Css("#suggest .hit")).await.unwrap();
    hit.click().await.unwrap();
    browser
        .until("return location.pathname.startsWith('/sessions/') && location.hash !== ''")
        .await;
}
