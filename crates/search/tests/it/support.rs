//! A log in a temporary folder, and questions to it.

use std::fs;
use std::path::{Path, PathBuf};

use annals::blocking::Wait;
use annals::domain::ActorRef;
use annals::domain::run::{RecordToolInvocation, ToolStatus};
use annals::domain::{Json, PipelineId, RunId};
use annals::{Annals, OpenOptions, RedactRequest, Target};
use annals_search::{Answer, LogSearch, Query, SearchRequest, Using};
use tempfile::TempDir;

/// No positions.
pub const NOTHING: [u64; 0] = [];

pub struct Home {
    dir: TempDir,
    pub annals: Annals,
    pub ada: ActorRef,
    pub run: RunId,
    pub pipeline: PipelineId,
}

impl Home {
    /// A log with an intent, a task, a run and a pipeline.
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let annals = open(&dir.path().join("log"));
        let ada = ActorRef::human("ada");
        let by = annals.by(&ada);
        let intent = by.submit("Begin").wait().unwrap();
        by.analyze(intent, "Begin").wait().unwrap();
        let task = by.task(intent, "Begin").wait().unwrap();
        let run = by.start_run(task, None, None).wait().unwrap();
        let pipeline = by.open_pipeline("Begin", 0).wait().unwrap();
        Home {
            dir,
            annals,
            ada,
            run,
            pipeline,
        }
    }

    pub fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    pub fn index(&self) -> PathBuf {
        self.log().join("search")
    }

    /// Opens the log again.
    pub fn reopen(&mut self) {
        self.annals.close().wait();
        self.annals = Annals::open("memory:").wait().unwrap();
        self.annals = open(&self.log());
    }

    pub fn search(&self) -> LogSearch {
        LogSearch::new(&self.annals, Some(&self.log()))
    }

    pub fn submit(&self, prompt: &str) -> u64 {
        self.annals.by(&self.ada).submit(prompt).wait().unwrap();
        self.annals.position().0
    }

    /// A tool call; its position.
    pub fn tool(&self, tool: &str, args: &str, result: &str) -> u64 {
        let call = RecordToolInvocation::new(self.run, tool, ToolStatus::Ok)
            .with_args(Json::readable(args).unwrap())
            .with_result_summary(result.to_owned());
        self.annals.by(&self.ada).tool(call).wait().unwrap();
        self.annals.position().0
    }

    pub fn redact(&self, target: Target) -> annals::RedactReport {
        let request = RedactRequest::new(vec![target], self.ada.clone(), "it leaked");
        let report = self
            .annals
            .contents()
            .redact(&request, &mut |_| {})
            .wait()
            .unwrap();
        self.annals.contents().purge().wait().unwrap();
        report
    }
}

pub fn open(log: &Path) -> Annals {
    OpenOptions::new()
        .create(true)
        .open(log.to_str().unwrap())
        .unwrap()
}

pub fn ask(search: &LogSearch, question: &str, using: Using) -> Answer {
    let request = SearchRequest::new(Query::parse(question).unwrap()).with_limit(10_000);
    search.ask(&request, using, &mut |_| {}).wait().unwrap()
}

/// The positions that a question finds, ascending.
pub fn positions(answer: &Answer) -> Vec<u64> {
    let mut found: Vec<u64> = answer.hits.iter().map(|hit| hit.position.0).collect();
    found.sort_unstable();
    found
}

/// Asks the index, which must be up to date then.
pub fn found(search: &LogSearch, question: &str) -> Vec<u64> {
    let answer = ask(search, question, Using::Index);
    assert!(answer.is_of_index && answer.lag.is_none(), "{answer:?}");
    assert_eq!(answer.searched, answer.end);
    positions(&answer)
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}
