//! Recorded calls are judged again in seconds, and policies are there before an agent would notice:
//! with all the policies of `policies/` together.
//!
//! What counts is the time of the processor, which only Linux says for a thread. Where two threads share a core it is
//! longer, too, so that a test among others cannot promise one: it judges fewer calls, and fails where they take about
//! a hundred times as long as they should. `make judging` judges 100,000 on a machine that does nothing else, prints how long
//! it takes, and fails where it is longer than docs/tool-policy.md says.

#![cfg(target_os = "linux")]

use std::time::Duration;

use annals_tool_policy::{Call, Verdict};
use serde_json::json;

use crate::ready_made;

/// How many calls are judged among other tests, and how long both processors together may work at it.
const FEW: usize = 20_000;
const FEW_TAKE: Duration = Duration::from_secs(80);
/// How long each of two processors may work at 100,000 calls.
const MANY_TAKE: Duration = Duration::from_secs(5);

/// How many calls `make judging` asks for.
fn asked_for() -> Option<usize> {
    let calls = std::env::var("ANNALS_CALLS").ok()?;
    Some(calls.parse().expect("ANNALS_CALLS is a number"))
}

/// A call as agents make them, and unlike all others.
fn call(n: usize) -> Call {
    let bash = |command: String| Call::new("Bash", json!({ "command": command }));
    let call = match n % 20 {
        0 => bash(format!("cargo test --workspace it_{n} 2>&1 | tail -20")),
        1 => bash(format!("cd crates/c{} && cargo check -p c{n}", n % 97)),
        2 => bash(format!(
            "grep -rn 'fn f{n}' src crates | head -{}",
            n % 50 + 1
        )),
        3 => bash(format!(
            "git commit -m \"$(cat <<'EOF'\nChange {n}: it's (done)\nEOF\n)\""
        )),
        4 => bash(format!(
            "git add -A && git status --short && git push origin topic-{n}"
        )),
        5 => bash(format!("python3 -c 'print({n})' > out/{n}.txt")),
        6 => bash(format!("for f in a{n} b c; do wc -l \"$f\"; done")),
        7 => bash(format!("sed -n '{n},$p' src/m{}.rs", n % 313)),
        8 => bash(format!(
            "ls -la src/d{n} && cat src/d{n}/mod.rs | sort | uniq -c"
        )),
        9 => bash(format!(
            "curl -s https://h{}.example/{n} -o /tmp/{n}.json",
            n % 1000
        )),
        10 => bash(format!(
            "find . -name '*{n}*.rs' -not -path './target/*' | xargs wc -l"
        )),
        11 => bash(format!(
            "RUST_LOG=debug timeout 60 ./target/debug/app --seed {n} || true"
        )),
        12 | 13 => Call::new(
            "Read",
            json!({"file_path": format!("/work/app/src/r{n}.rs")}),
        ),
        14 | 15 => Call::new(
            "Edit",
            json!({"file_path": format!("/work/app/src/e{n}.rs"), "old_string": "a", "new_string": n}),
        ),
        16 => Call::new(
            "Grep",
            json!({"pattern": format!("x{n}"), "path": format!("src/g{}", n % 500)}),
        ),
        17 => Call::new(
            "Write",
            json!({"file_path": format!("/work/app/docs/{n}.md"), "content": "x".repeat(n % 300)}),
        ),
        18 => Call::new("WebFetch", json!({"url": format!("https://docs.rs/c{n}")})),
        _ => Call::new("mcp__github__get_issue", json!({"number": n})),
    };
    call.with_agent("claude-code")
        .with_session(format!("s-{}", n / 200))
        .with_cwd("/work/app".to_owned())
        .with_home("/home/ann".to_owned())
}

/// How long the processor worked for this thread: others run beside it.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says it");
    let nanos = text.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanos.expect("it is a number"))
}

#[test]
fn calls_that_all_differ_are_judged_in_seconds() {
    let policies = ready_made::all();
    let asked_for = asked_for();
    let count = asked_for.unwrap_or(FEW);
    let calls: Vec<Call> = (0..count).map(call).collect();
    let judge = |calls: &[Call]| {
        let begun = worked();
        let mut found = [0_usize; 3];
        for call in calls {
            let verdict = policies.judge(call).verdict;
            let at = Verdict::ALL.iter().position(|it| *it == verdict);
            found[at.expect("it is one of them")] += 1;
        }
        (found, worked() - begun)
    };
    let judge = &judge;
    // Two processors, as `annals policy replay --tools` uses all that there are.
    let found: Vec<([usize; 3], Duration)> = std::thread::scope(|scope| {
        let shares = calls.chunks(count.div_ceil(2));
        let begun: Vec<_> = shares
            .map(|share| scope.spawn(move || judge(share)))
            .collect();
        begun
            .into_iter()
            .map(|it| it.join().expect("it does not panic"))
            .collect()
    });
    let judged: [usize; 3] = found.iter().fold([0; 3], |all, it| {
        std::array::from_fn(|at| all[at] + it.0[at])
    });
    assert_eq!(judged.iter().sum::<usize>(), count);
    assert!(judged.iter().all(|it| *it > count / 100), "{judged:?}");
    let worked = found.iter().map(|it| it.1);
    let longest = worked.clone().max().expect("there are two");
    println!("{count} calls on 2 processors: {longest:?}");
    match asked_for {
        None => {
            let took: Duration = worked.sum();
            assert!(took < FEW_TAKE, "{took:?}");
        }
        Some(_) => {
            let at_most = MANY_TAKE.mul_f64(count as f64 / 100_000.0);
            assert!(longest < at_most, "{longest:?}, and not {at_most:?}");
        }
    }
}

#[test]
fn policies_are_parsed_and_checked_in_milliseconds() {
    let texts = ready_made::texts();
    let load = |_| {
        let begun = worked();
        ready_made::parsed(&texts);
        worked() - begun
    };
    let took = (0..5).map(load).min().expect("it was loaded");
    println!("{} policy files: {took:?}", texts.len());
    let longest = Duration::from_millis(if asked_for().is_some() { 20 } else { 5_000 });
    assert!(took < longest, "{took:?}");
}
