//! Tool calls: each event on one is found, and the tool's name is that of the first source that says one.

use annals_domain::run::{
    Event, GrantScope, ToolBegun, ToolDecided, ToolDecider, ToolInvocationAdopted, ToolInvoked,
    ToolRequested, ToolStatus, ToolVerdict,
};
use annals_domain::{AnyEvent, Emitted, Kind, Pieces, Slot, StreamKind, ToolInvocationId};
use futures::executor::block_on;
use uuid::Uuid;

use super::{row, up_to_date};
use crate::testing::{Story, fold, id, stream};
use crate::{ObjectView, ToolInvocationView};

const CALL: u8 = 7;

fn of_run(tool: Option<&str>, event: impl FnOnce(Option<Slot>) -> Event) -> Emitted {
    let mut pieces = Pieces::new();
    let tool = tool.map(|tool| pieces.text(tool));
    Emitted {
        stream: stream(StreamKind::Run, id(1)),
        event: AnyEvent::Run(event(tool)),
        pieces,
    }
}

fn call() -> ToolInvocationId {
    ToolInvocationId(id(CALL))
}

fn decided(tool: Option<&str>) -> Emitted {
    of_run(tool, |tool_name| {
        Event::ToolDecided(ToolDecided {
            tool_invocation: call(),
            tool_name,
            verdict: ToolVerdict::Allow,
            by: ToolDecider::Rule,
            by_name: None,
            source: None,
            scope: GrantScope::Settings,
            grant: None,
            inferred: false,
            reason: None,
            permission_mode: None,
            in_force: None,
        })
    })
}

fn begun() -> Emitted {
    of_run(None, |tool_name| {
        Event::ToolBegun(ToolBegun {
            tool_invocation: call(),
            tool_name,
        })
    })
}

fn requested(tool: &str) -> Emitted {
    of_run(Some(tool), |tool| {
        Event::ToolRequested(ToolRequested {
            tool_invocation: call(),
            tool_name: tool.unwrap(),
            io_footprint: None,
            args: None,
        })
    })
}

fn invocation(pieces: &mut Pieces, tool: &str, summary: &str) -> ToolInvoked {
    ToolInvoked {
        tool_invocation: call(),
        tool_name: pieces.text(tool),
        io_footprint: None,
        args: None,
        status: ToolStatus::Ok,
        duration_ms: None,
        result_summary: Some(pieces.text(summary)),
        artifacts: Vec::new(),
    }
}

fn adopted(tool: &str, summary: &str) -> Emitted {
    let mut samples = annals_wire::sample::samples().into_iter();
    let header = samples.find_map(|sample| match sample.event {
        AnyEvent::Run(Event::ToolInvocationAdopted(event)) => Some((event.header, sample.pieces)),
        _ => None,
    });
    let (header, mut pieces) = header.unwrap();
    let invocation = invocation(&mut pieces, tool, summary);
    Emitted {
        stream: stream(StreamKind::Run, id(1)),
        event: AnyEvent::Run(Event::ToolInvocationAdopted(ToolInvocationAdopted {
            header,
            invocation,
        })),
        pieces,
    }
}

/// The call by the events that the catalogue finds, and by all of its stream.
fn views(story: &Story) -> [ToolInvocationView; 2] {
    let catalogue = up_to_date(&story.log);
    let positions = block_on(catalogue.events_of_call(&story.log, id(CALL))).unwrap();
    let entries = story.entries();
    let mut found = entries.clone();
    found.retain(|entry| positions.contains(&entry.position));
    assert_eq!(found.len(), positions.len());
    let view = |entries: &[crate::Entry]| match fold(Kind::ToolInvocation, id(CALL), entries) {
        Some(ObjectView::ToolInvocation(view)) => view,
        other => panic!("{other:?}"),
    };
    [view(&found), view(&entries)]
}

fn title(story: &Story, call: Uuid) -> String {
    let row = row(&up_to_date(&story.log), &story.log, call);
    row.title.unwrap().to_string()
}

#[test]
fn a_call_that_is_adopted_again_is_found_as_it_is_now() {
    let mut story = Story::new();
    for (number, emitted) in [
        decided(Some("Bash")),
        adopted("Bash", "first"),
        begun(),
        adopted("Bash", "second"),
    ]
    .iter()
    .enumerate()
    {
        story.append(emitted);
        let [found, whole] = views(&story);
        assert_eq!(found, whole, "{number}");
    }
    let [found, _] = views(&story);
    assert_eq!(found.result_summary.unwrap().to_string(), "second");
    // What was told of its life is no part of what is adopted.
    assert_eq!(found.life.decisions.len(), 1);
    assert!(found.life.begun.is_some());
}

#[test]
fn a_call_is_called_by_the_first_tool_that_is_said() {
    for (told, expected) in [
        (vec![decided(Some("mcp_tool"))], "mcp_tool"),
        (
            vec![
                decided(Some("mcp_tool")),
                requested("mcp__db__read"),
                requested("Other"),
            ],
            "mcp__db__read",
        ),
        (
            vec![
                decided(Some("(unnamed)")),
                begun(),
                requested("mcp_tool"),
                requested("Bash"),
            ],
            "Bash",
        ),
        (vec![requested("Bash"), requested("mcp__db__read")], "Bash"),
    ] {
        let mut story = Story::new();
        for emitted in &told {
            story.append(emitted);
        }
        let [found, whole] = views(&story);
        assert_eq!(found, whole);
        assert_eq!(found.tool_name.to_string(), expected);
        assert_eq!(title(&story, id(CALL)), expected);
    }
}
