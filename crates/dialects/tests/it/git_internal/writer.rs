//! Arbitrary objects as git-internal 0.6.0 writes them, text by text: it knows
//! the order and the absence of fields by itself, and nothing of our views.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

/// The eleven kinds by the word in `object_type`.
pub const KINDS: [&str; 11] = [
    "intent",
    "plan",
    "task",
    "run",
    "patch_set",
    "evidence",
    "decision",
    "provenance",
    "tool_invocation",
    "context_snapshot",
    "context_pipeline",
];

const TEXTS: &[&str] = &[
    "plain",
    "",
    " ",
    "two\nlines\r\n\ttab",
    "\"quoted\" \\ / \u{8}\u{c}",
    "\u{0}\u{1f}\u{7f}",
    "é 日本 🦀 \u{1F468}\u{200D}\u{1F469}",
    "\u{202e}right\u{2028}\u{2029}",
    "\u{fffd}\u{feff}\u{10ffff}",
    "e\u{301} [removed]",
];

/// A JSON object whose fields are in the order in which they are put.
struct Text(String);

impl Text {
    fn new() -> Text {
        Text("{".to_owned())
    }

    fn put(mut self, name: &str, value: impl AsRef<str>) -> Text {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&serde_json::to_string(name).unwrap());
        self.0.push(':');
        self.0.push_str(value.as_ref());
        self
    }

    fn may(self, name: &str, value: Option<String>) -> Text {
        match value {
            Some(value) => self.put(name, value),
            None => self,
        }
    }

    fn end(self) -> String {
        self.0 + "}"
    }
}

fn list(items: Vec<String>) -> String {
    format!("[{}]", items.join(","))
}

/// A list that is left out when it is empty.
fn some(items: Vec<String>) -> Option<String> {
    (!items.is_empty()).then(|| list(items))
}

/// Makes objects, which may name each other.
pub struct Writer {
    rng: StdRng,
    ids: Vec<(usize, String)>,
}

impl Writer {
    pub fn new(seed: u64) -> Writer {
        Writer {
            rng: StdRng::seed_from_u64(seed),
            ids: Vec::new(),
        }
    }

    /// So many objects, each kind as likely as any other.
    pub fn objects(&mut self, count: usize) -> Vec<String> {
        for number in 0..count {
            let id = self.new_id();
            self.ids.push((number % KINDS.len(), id));
        }
        let ids = self.ids.clone();
        ids.iter()
            .map(|(kind, id)| self.object(KINDS[*kind], id))
            .collect()
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_range(0..n) == 0
    }

    fn new_id(&mut self) -> String {
        let bytes: [u8; 16] = self.rng.random();
        format!("\"{}\"", uuid::Uuid::from_bytes(bytes))
    }

    /// Most often an object that is there, of any kind.
    fn id(&mut self) -> String {
        if self.one_in(4) {
            return self.new_id();
        }
        self.ids.choose(&mut self.rng).unwrap().1.clone()
    }

    fn may<T>(&mut self, make: impl FnOnce(&mut Writer) -> T) -> Option<T> {
        (!self.one_in(3)).then(|| make(self))
    }

    fn or_null(&mut self, make: impl FnOnce(&mut Writer) -> String) -> String {
        self.may(make).unwrap_or_else(|| "null".to_owned())
    }

    fn several(&mut self, mut make: impl FnMut(&mut Writer) -> String) -> Vec<String> {
        let count = *[0, 0, 1, 2, 5].choose(&mut self.rng).unwrap();
        (0..count).map(|_| make(self)).collect()
    }

    fn word(&mut self, words: &[&str]) -> String {
        format!("\"{}\"", words.choose(&mut self.rng).unwrap())
    }

    /// A listed word, or another one, as `{"other": ...}`.
    fn tagged(&mut self, words: &[&str]) -> String {
        if self.one_in(4) {
            return Text::new().put("other", self.text()).end();
        }
        self.word(words)
    }

    /// A listed word, or another one, as it is.
    fn bare(&mut self, words: &[&str]) -> String {
        if self.one_in(4) {
            return self.solid();
        }
        self.word(words)
    }

    fn plain(&mut self) -> String {
        match self.rng.random_range(0..20) {
            0 => "x".repeat(5_000),
            1 => "日🦀".repeat(2_000),
            _ => (*TEXTS.choose(&mut self.rng).unwrap()).to_owned(),
        }
    }

    fn text(&mut self) -> String {
        serde_json::to_string(&self.plain()).unwrap()
    }

    /// A text that is not blank.
    fn solid(&mut self) -> String {
        let text = self.plain();
        let text: String = text.chars().take(100).collect();
        serde_json::to_string(&format!("x{text}")).unwrap()
    }

    fn number(&mut self) -> String {
        let numbers = [0, 1, 255, 65_536, (1 << 53) + 1, u64::MAX];
        numbers.choose(&mut self.rng).unwrap().to_string()
    }

    fn small(&mut self) -> String {
        [0, 1, 300, u32::MAX]
            .choose(&mut self.rng)
            .unwrap()
            .to_string()
    }

    /// serde_json writes a float that is not a number as null.
    fn float(&mut self) -> String {
        let floats = [
            0.0,
            -0.0,
            0.1,
            1.0,
            -1.5,
            0.1 + 0.2,
            1e16,
            1e-7,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::NAN,
            f64::INFINITY,
        ];
        serde_json::to_string(floats.choose(&mut self.rng).unwrap()).unwrap()
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.rng.random_range(0..9) {
            0 => Value::Null,
            1 => json!(self.one_in(2)),
            2 => json!(self.rng.random::<i64>()),
            3 => serde_json::from_str(&self.float()).unwrap(),
            4 | 5 => json!(self.plain()),
            _ if depth == 0 => json!([]),
            6 => {
                let count = self.rng.random_range(0..4);
                Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => {
                let count = self.rng.random_range(0..4);
                let pairs = (0..count).map(|_| (self.plain(), self.value(depth - 1)));
                Value::Object(pairs.collect())
            }
        }
    }

    /// Free JSON, now and then as deep as it may be.
    fn free(&mut self) -> String {
        if self.one_in(20) {
            return format!("{}1{}", "[".repeat(100), "]".repeat(100));
        }
        self.value(4).to_string()
    }

    fn time(&mut self) -> String {
        let seconds = self.rng.random_range(0..4_102_444_800_i64);
        let nanos = [0, 500_000_000, 123_000, 1, 999_999_999];
        let nanos = *nanos.choose(&mut self.rng).unwrap();
        let time = chrono::DateTime::from_timestamp(seconds, nanos).unwrap();
        let text = time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
        format!("\"{text}\"")
    }

    fn hash(&mut self) -> String {
        let bytes: [u8; 32] = self.rng.random();
        format!("\"{}\"", annals_event_log::Digest(bytes))
    }

    fn actor(&mut self) -> String {
        Text::new()
            .put(
                "kind",
                self.bare(&["human", "agent", "system", "mcp_client"]),
            )
            .put("id", self.solid())
            .put("display_name", self.or_null(Writer::text))
            .put("auth_context", self.or_null(Writer::text))
            .end()
    }

    /// Keys in no order, none twice.
    fn labels(&mut self) -> String {
        let count = self.rng.random_range(0..4);
        let first = self.rng.random_range(0..TEXTS.len());
        (0..count)
            .fold(Text::new(), |text, number| {
                let key = TEXTS[(first + 7 * number) % TEXTS.len()];
                text.put(key, self.text())
            })
            .end()
    }

    fn artifact(&mut self) -> String {
        Text::new()
            .put("store", self.solid())
            .put("key", self.solid())
            .put("content_type", self.or_null(Writer::text))
            .put("size_bytes", self.or_null(Writer::number))
            .put("hash", self.or_null(Writer::hash))
            .put("expires_at", self.or_null(Writer::time))
            .end()
    }

    fn header(&mut self, kind: &str, id: &str) -> Text {
        Text::new()
            .put("object_id", id)
            .put("object_type", format!("\"{kind}\""))
            .put("header_version", self.rng.random_range(1..4).to_string())
            .put("schema_version", self.rng.random_range(1..4).to_string())
            .put("created_at", self.time())
            .put("updated_at", self.time())
            .put("created_by", self.actor())
            .put("visibility", self.word(&["private", "public"]))
            .put("tags", self.labels())
            .put("external_ids", self.labels())
            .put("checksum", self.or_null(Writer::hash))
    }

    fn object(&mut self, kind: &str, id: &str) -> String {
        let header = self.header(kind, id);
        let body = match kind {
            "intent" => self.intent(header),
            "plan" => self.plan(header),
            "task" => self.task(header),
            "run" => self.run(header),
            "patch_set" => self.patch_set(header),
            "evidence" => self.evidence(header),
            "decision" => self.decision(header),
            "provenance" => self.provenance(header),
            "tool_invocation" => self.tool_invocation(header),
            "context_snapshot" => self.context_snapshot(header),
            _ => self.context_pipeline(header),
        };
        body.end()
    }

    fn status(&mut self, words: &[&str]) -> String {
        Text::new()
            .put("status", self.word(words))
            .put("changed_at", self.time())
            .may("reason", self.may(Writer::text))
            .end()
    }

    fn intent(&mut self, header: Text) -> Text {
        let words = ["draft", "active", "completed", "cancelled"];
        header
            .put("prompt", self.text())
            .may("content", self.may(Writer::text))
            .may("parent", self.may(Writer::id))
            .may("commit", self.may(Writer::hash))
            .may("plan", self.may(Writer::id))
            .put("statuses", list(self.several(|w| w.status(&words))))
    }

    fn step(&mut self) -> String {
        let words = ["pending", "progressing", "completed", "failed", "skipped"];
        Text::new()
            .put("description", self.text())
            .may("inputs", self.may(Writer::free))
            .may("outputs", self.may(Writer::free))
            .may("checks", self.may(Writer::free))
            .may("iframes", some(self.several(Writer::number)))
            .may("oframes", some(self.several(Writer::number)))
            .may("task", self.may(Writer::id))
            .put("statuses", list(self.several(|w| w.status(&words))))
            .end()
    }

    fn plan(&mut self, header: Text) -> Text {
        header
            .may("previous", self.may(Writer::id))
            .may("pipeline", self.may(Writer::id))
            .may("fwindow", self.may(|w| list(vec![w.small(), w.small()])))
            .put("steps", list(self.several(Writer::step)))
    }

    fn task(&mut self, header: Text) -> Text {
        let goals = [
            "feature", "bugfix", "refactor", "docs", "perf", "test", "chore", "build", "ci",
            "style",
        ];
        let statuses = ["draft", "running", "done", "failed", "cancelled"];
        header
            .put("title", self.text())
            .may("description", self.may(Writer::text))
            .may("goal", self.may(|w| w.tagged(&goals)))
            .may("constraints", some(self.several(Writer::text)))
            .may("acceptance_criteria", some(self.several(Writer::text)))
            .may("requester", self.may(Writer::actor))
            .may("parent", self.may(Writer::id))
            .may("intent", self.may(Writer::id))
            .may("runs", some(self.several(Writer::id)))
            .may("dependencies", some(self.several(Writer::id)))
            .put("status", self.word(&statuses))
    }

    fn environment(&mut self) -> String {
        let keys = ["cores", "é", "", "shell.path"];
        let extra = self.rng.random_range(0..keys.len());
        let fixed = Text::new()
            .put("os", self.text())
            .put("arch", self.text())
            .put("cwd", self.text());
        keys[..extra]
            .iter()
            .rev()
            .fold(fixed, |text, key| text.put(key, self.free()))
            .end()
    }

    fn run(&mut self, header: Text) -> Text {
        let statuses = ["created", "patching", "validating", "completed", "failed"];
        header
            .put("task", self.id())
            .may("plan", self.may(Writer::id))
            .put("commit", self.hash())
            .put("status", self.word(&statuses))
            .may("snapshot", self.may(Writer::id))
            .may("patchsets", some(self.several(Writer::id)))
            .may("metrics", self.may(Writer::free))
            .may("error", self.may(Writer::text))
            .may("environment", self.may(Writer::environment))
    }

    fn touched(&mut self) -> String {
        let changes = ["add", "modify", "delete", "rename", "copy"];
        Text::new()
            .put("path", self.solid())
            .put("change_type", self.word(&changes))
            .put("lines_added", self.small())
            .put("lines_deleted", self.small())
            .end()
    }

    fn patch_set(&mut self, header: Text) -> Text {
        header
            .put("run", self.id())
            .put("commit", self.hash())
            .put("format", self.word(&["unified_diff", "git_diff"]))
            .put("artifact", self.or_null(Writer::artifact))
            .put("touched", list(self.several(Writer::touched)))
            .put("rationale", self.or_null(Writer::text))
            .put(
                "apply_status",
                self.word(&["proposed", "applied", "rejected"]),
            )
    }

    fn evidence(&mut self, header: Text) -> Text {
        header
            .put("run_id", self.id())
            .may("patchset_id", self.may(Writer::id))
            .put("kind", self.bare(&["test", "lint", "build"]))
            .put("tool", self.text())
            .may("command", self.may(Writer::text))
            .may("exit_code", self.may(|w| w.rng.random::<i32>().to_string()))
            .may("summary", self.may(Writer::text))
            .may("report_artifacts", some(self.several(Writer::artifact)))
    }

    fn decision(&mut self, header: Text) -> Text {
        let types = ["commit", "checkpoint", "abandon", "retry", "rollback"];
        header
            .put("run_id", self.id())
            .put("decision_type", self.bare(&types))
            .may("chosen_patchset_id", self.may(Writer::id))
            .may("result_commit_sha", self.may(Writer::hash))
            .may("checkpoint_id", self.may(Writer::text))
            .may("rationale", self.may(Writer::text))
    }

    fn tokens(&mut self) -> String {
        Text::new()
            .put("input_tokens", self.number())
            .put("output_tokens", self.number())
            .put("total_tokens", self.number())
            .put("cost_usd", self.or_null(Writer::float))
            .end()
    }

    fn provenance(&mut self, header: Text) -> Text {
        header
            .put("run_id", self.id())
            .put("provider", self.text())
            .put("model", self.text())
            .may("parameters", self.may(Writer::free))
            .may("temperature", self.may(Writer::float))
            .may("max_tokens", self.may(Writer::number))
            .may("token_usage", self.may(Writer::tokens))
    }

    fn footprint(&mut self) -> String {
        Text::new()
            .may("paths_read", some(self.several(Writer::text)))
            .may("paths_written", some(self.several(Writer::text)))
            .end()
    }

    fn tool_invocation(&mut self, header: Text) -> Text {
        header
            .put("run_id", self.id())
            .put("tool_name", self.text())
            .may("io_footprint", self.may(Writer::footprint))
            .put("args", self.or_null(Writer::free))
            .put("status", self.word(&["ok", "error"]))
            .may("result_summary", self.may(Writer::text))
            .may("artifacts", some(self.several(Writer::artifact)))
    }

    fn blob(&mut self) -> String {
        let (name, length) = *[("Sha1", 20), ("Sha256", 32)]
            .choose(&mut self.rng)
            .unwrap();
        let bytes = (0..length).map(|_| self.rng.random::<u8>().to_string());
        let bytes = list(bytes.collect());
        Text::new().put(name, bytes).end()
    }

    fn item(&mut self) -> String {
        let kinds = ["file", "url", "snippet", "command", "image"];
        Text::new()
            .put("kind", self.tagged(&kinds))
            .put("path", self.solid())
            .may("preview", self.may(Writer::text))
            .may("blob", self.may(Writer::blob))
            .end()
    }

    fn context_snapshot(&mut self, header: Text) -> Text {
        header
            .put("selection_strategy", self.word(&["explicit", "heuristic"]))
            .may("items", some(self.several(Writer::item)))
            .may("summary", self.may(Writer::text))
    }

    fn frame(&mut self) -> String {
        let kinds = [
            "intent_analysis",
            "step_summary",
            "code_change",
            "system_state",
            "error_recovery",
            "checkpoint",
            "tool_call",
        ];
        Text::new()
            .put("frame_id", self.number())
            .put("kind", self.tagged(&kinds))
            .put("summary", self.text())
            .may("data", self.may(Writer::free))
            .put("created_at", self.time())
            .may("token_estimate", self.may(Writer::number))
            .end()
    }

    fn context_pipeline(&mut self, header: Text) -> Text {
        header
            .put("frames", list(self.several(Writer::frame)))
            .put("next_frame_id", self.number())
            .put("max_frames", self.small())
            .may("global_summary", self.may(Writer::text))
    }
}
