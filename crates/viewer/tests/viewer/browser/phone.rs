//! Pages on a phone: what is tapped is large enough, tables are read without scrolling sideways, and the search box is there.

use serde_json::json;

use super::Browser;
use crate::pages::addresses;
use crate::support::{TASK, Viewing, uuid};

/// The controls of a page that are lower than 40 pixels. A control in a label is as large as its label.
const LOW: &str = "
    const controls = 'button, select, input:not([type=hidden]), summary, a.button, nav a, .filters a, .tabs a, p.more a, [role=option]';
    const isShown = (it) => it.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && it.getBoundingClientRect().width > 1;
    return [...document.querySelectorAll(controls)].filter(isShown)
        .map((it) => it.closest('label') ?? it)
        .filter((it) => it.getBoundingClientRect().height < 39.5)
        .map((it) => Math.round(it.getBoundingClientRect().height) + ' ' + it.outerHTML.slice(0, 120));";

/// Tables that scroll sideways, and what is cut at the right edge of a table of rows as blocks.
const WIDE: &str = "
    return [...document.querySelectorAll('main .stacked')].filter((it) => it.checkVisibility() && it.scrollWidth > it.parentElement.clientWidth + 1)
        .map((it) => it.scrollWidth + ' in ' + it.parentElement.clientWidth);";

pub(super) async fn pages_fit_a_phone(browser: &Browser, viewing: &Viewing) {
    let driver = &browser.driver;
    driver.set_window_rect(0, 0, 390, 844).await.unwrap();
    let mut wrong = Vec::new();
    for address in addresses() {
        browser.goto(viewing, &address).await;
        for (what, script) in [("low", LOW), ("wide", WIDE)] {
            let found: Vec<String> = serde_json::from_value(browser.run(script).await).unwrap();
            wrong.extend(
                found
                    .into_iter()
                    .map(|it| format!("{address}: {what} {it}")),
            );
        }
        let name = address.replace(['/', '?', '='], "-");
        browser.picture(&format!("phone{name}")).await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    the_search_box_is_there(browser, viewing).await;
    driver.set_window_rect(0, 0, 1280, 900).await.unwrap();
}

/// The header's box can be tapped and finds; the navigation stays when the page scrolls.
async fn the_search_box_is_there(browser: &Browser, viewing: &Viewing) {
    let session = format!("/sessions/{}", uuid(TASK));
    browser.goto(viewing, &session).await;
    let tap = "const it = document.querySelector('#find-all'); const box = it.getBoundingClientRect(); \
               const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); \
               it.focus(); return hit === it && box.width > 150 && box.right <= innerWidth";
    assert_eq!(browser.run(tap).await, json!(true));
    browser.press("cargo").await;
    browser
        .until("return document.querySelectorAll('#suggest [role=option]').length > 1")
        .await;
    let fits = "const box = document.querySelector('#suggest').getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth && box.top >= 48";
    assert_eq!(browser.run(fits).await, json!(true));
    browser.picture("phone-suggestions").await;
    browser.goto(viewing, "/log").await;
    browser.run("scrollTo(0, document.body.scrollHeight)").await;
    let stays = "const box = document.querySelector('.top nav').getBoundingClientRect(); return box.top >= 0 && box.bottom <= 60";
    browser.until(stays).await;
}
