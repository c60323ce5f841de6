//! Files that look like recordings and hold no requests: totals and histograms. They are told apart from damage.

use super::detect::lines_of;

/// Output of a tool that adds requests up.
struct Totals {
    /// The tool, and what it prints.
    what: &'static str,
    /// Words that stand together on one of the first lines.
    words: &'static [&'static str],
}

const KNOWN: &[Totals] = &[
    Totals { what: "iostat's rates of devices", words: &["Device", "r/s", "w/s"] },
    Totals { what: "iostat's rates of devices", words: &["Device", "tps", "kB_read/s"] },
    Totals { what: "a histogram (biolatency, bitesize)", words: &["count", "distribution"] },
    Totals { what: "a histogram of bpftrace", words: &["[", ")", "|@"] },
    Totals { what: "vmstat's totals", words: &["procs", "memory", "swap", "io"] },
    Totals { what: "biotop's totals by process", words: &["D MAJ MIN DISK", "I/O"] },
    Totals {
        what: "biosnoop.bt of bpftrace, which leaves out where requests went and how long they were",
        words: &["TIME(ms)", "DISK", "LAT(ms)"],
    },
];

/// A sentence about what is in a file with this head, if it holds no requests.
pub fn of(head: &[u8]) -> Option<String> {
    let has =
        |line: &[u8], word: &str| line.windows(word.len()).any(|part| part == word.as_bytes());
    let is_of =
        |known: &&Totals| lines_of(head).any(|line| known.words.iter().all(|word| has(line, word)));
    let Totals { what, .. } = KNOWN.iter().find(is_of)?;
    Some(format!(
        "found {what}: such a file holds no requests; record them with `perf record -e block:block_rq_issue`, \
         `blktrace`, or biosnoop of bcc (docs/guide/traces.md)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_told_and_recordings_are_none() {
        for (head, what) in [
            ("Linux 6.1 (x)\n\nDevice  r/s  rkB/s  w/s  wkB/s\n", "iostat"),
            ("Device:  tps  kB_read/s  kB_wrtn/s\n", "iostat"),
            ("Tracing...\n     usecs   : count    distribution\n", "a histogram (biolatency"),
            ("@usecs:\n[64, 128)   30 |@@@      |\n", "a histogram of bpftrace"),
            ("TIME(ms)     DISK    COMM             PID    LAT(ms)\n", "biosnoop.bt"),
        ] {
            let told = of(head.as_bytes()).expect(head);
            assert!(told.starts_with(&format!("found {what}")), "{told}");
            assert!(told.contains("holds no requests; record them with"), "{told}");
        }
        assert_eq!(of(b"0.000004 supervise 1950 xvda1 W 13092560 4096 0.74\n"), None);
    }
}
