//! What the measurements ran on, as far as the system says it.

use std::fs::read_to_string;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The machine. What is not known is empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Whether the processor has instructions for SHA-256.
    pub sha_instructions: bool,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// The kernel.
    pub system: String,
    /// The file system of the data, and the device that has it.
    pub file_system: String,
    /// How many processes wanted a processor when it began: on an idle machine, none.
    pub load: String,
}

impl Machine {
    /// This one, and the file system of a folder.
    pub fn of(folder: &Path) -> Machine {
        let read = |path: &str| read_to_string(path).unwrap_or_default();
        let folder = folder.canonicalize().unwrap_or_default();
        let processors = std::thread::available_parallelism();
        let load = read("/proc/loadavg");
        let system = [std::env::consts::OS, std::env::consts::ARCH].join(" ");
        Machine {
            processor: processor(&read("/proc/cpuinfo")),
            processors: processors.map_or(1, usize::from),
            sha_instructions: has_sha(&read("/proc/cpuinfo")),
            memory_gib: memory_gib(&read("/proc/meminfo")),
            system: format!("{system} {}", read("/proc/sys/kernel/osrelease").trim()),
            file_system: file_system(&read("/proc/self/mountinfo"), &folder),
            load: load.split(' ').next().unwrap_or_default().to_owned(),
        }
    }

    /// What a page says of it: what each line is about, and its text.
    pub fn lines(&self) -> [(&'static str, String); 5] {
        let sha = match self.sha_instructions {
            true => "with",
            false => "without",
        };
        let processors = format!(
            "{}, {} of them, {sha} SHA instructions",
            self.processor, self.processors
        );
        [
            ("Processors", processors),
            ("Memory", format!("{} GiB", self.memory_gib)),
            ("System", self.system.clone()),
            ("File system of the data", self.file_system.clone()),
            ("Load when it began", self.load.clone()),
        ]
    }
}

/// The value behind a name and a colon.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(found, _)| found.trim() == name)?;
    Some(value.trim())
}

fn processor(cpuinfo: &str) -> String {
    field(cpuinfo, "model name").unwrap_or_default().to_owned()
}

/// x86 says `sha_ni`, Arm `sha2`.
fn has_sha(cpuinfo: &str) -> bool {
    let flags = field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features"));
    let mut flags = flags.unwrap_or_default().split(' ');
    flags.any(|flag| flag == "sha_ni" || flag == "sha2")
}

fn memory_gib(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|value| value.split(' ').next());
    let kib: u64 = kib.and_then(|kib| kib.parse().ok()).unwrap_or_default();
    kib.div_ceil(1024 * 1024)
}

/// The file system of the longest mount point that the folder is below; see `proc(5)`.
fn file_system(mountinfo: &str, folder: &Path) -> String {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let point = place.split(' ').nth(4)?;
        let mut kind = kind.split(' ');
        let name = format!("{} on {}", kind.next()?, kind.next()?);
        Some((point, name))
    });
    let above = mounts.filter(|(point, _)| folder.starts_with(point));
    // Of two at one point the later one hides the earlier one; `max_by_key` takes the later.
    let found = above.max_by_key(|(point, _)| point.len());
    found.map(|(_, name)| name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_read_from_what_the_kernel_says() {
        let text = "processor\t: 0\nmodel name\t: A Processor @ 2 GHz\nflags\t\t: fpu sha_ni\n";
        assert_eq!(processor(text), "A Processor @ 2 GHz");
        assert!(has_sha(text));
        assert!(has_sha("Features\t: fp sha1 sha2 crc32\n"));
        assert!(!has_sha("flags\t\t: fpu sha_ni_not\n"));
        assert_eq!(processor(""), "");
    }

    #[test]
    fn memory_is_counted_in_gibibytes() {
        assert_eq!(
            memory_gib("MemTotal:       25165824 kB\nMemFree: 1 kB\n"),
            24
        );
        assert_eq!(memory_gib(""), 0);
    }

    #[test]
    fn the_nearest_mount_has_the_folder() {
        let text = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
                    30 22 0:27 / /mnt/a rw - tmpfs tmpfs rw\n\
                    31 22 8:1 / /mnt/ab rw shared:2 - xfs /dev/sdb rw\n";
        let found = |folder: &str| file_system(text, Path::new(folder));
        assert_eq!(found("/home/somebody"), "ext4 on /dev/vda");
        assert_eq!(found("/mnt/a/b"), "tmpfs on tmpfs");
        assert_eq!(found("/mnt/ab"), "xfs on /dev/sdb");
        assert_eq!(file_system("nonsense", Path::new("/")), "");
    }
}
