// Filters and rewrites JSON records, one a line: keeps those that are active and whose id 5 does not
// divide, writes {"id", "score": 3 score + id, "title": "task:" + title} and counts every written
// record whole. Goes over FILE ASSAY_BENCH_STEPS times (256). Prints "record TAB count" in byte order,
// then "TOTAL selected bytes processed".
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;

#[path = "../common/bench.rs"]
mod bench;

#[derive(PartialEq, Default)]
struct Counts {
    records: HashMap<String, u64>,
    selected: u64,
    bytes: u64,
    processed: u64,
}

fn transform(line: &[u8], counts: &mut Counts) -> Option<()> {
    let record: Value = serde_json::from_slice(line).ok()?;
    counts.processed += 1;
    let id = record["id"].as_i64()?;
    if !record["active"].as_bool()? || id % 5 == 0 {
        return Some(());
    }
    let score = record["score"].as_i64()? * 3 + id;
    let title = format!("task:{}", record["title"].as_str()?);
    let title = serde_json::to_string(&title).ok()?;
    let out = format!("{{\"id\":{},\"score\":{},\"title\":{}}}", id, score, title);
    counts.selected += 1;
    counts.bytes += out.len() as u64;
    *counts.records.entry(out).or_insert(0) += 1;
    Some(())
}

fn work(lines: &[&[u8]], rounds: u64) -> Option<Counts> {
    let mut counts = Counts::default();
    for _ in 0..rounds {
        for line in lines {
            transform(line, &mut counts)?;
        }
    }
    Some(counts)
}

fn main() -> std::io::Result<()> {
    let text = bench::read_input();
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let rounds = bench::steps(256, 512);
    let counts = bench::repeat(|| work(&lines, rounds)).unwrap_or_else(|| {
        eprintln!("a line is not such a record");
        std::process::exit(2)
    });
    let mut sorted: Vec<(&String, &u64)> = counts.records.iter().collect();
    sorted.sort();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for (record, times) in &sorted {
        writeln!(out, "{}\t{}", record, times)?;
    }
    writeln!(out, "TOTAL {} {} {}", counts.selected, counts.bytes, counts.processed)
}
