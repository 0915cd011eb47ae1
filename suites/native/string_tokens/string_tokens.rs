// Counts the fields of log records: splits on '|', trims, rewrites two labels and the em dash, skips
// what is empty. Visits the records of FILE cyclically, ASSAY_BENCH_STEPS in all (1,048,576). Prints
// "token count" in code-point order, then "TOTAL tokens unique bytes" without line ends.
use std::collections::HashMap;

#[path = "../common/bench.rs"]
mod bench;

const RULES: [(&str, &str); 3] = [("INFO:", "info:"), ("WARN:", "warn:"), ("\u{2014}", "-")];

#[derive(PartialEq, Default)]
struct Counts {
    tokens: HashMap<String, u64>,
    total: u64,
    bytes: u64,
}

fn rewritten(mut text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    while let Some(first) = text.chars().next() {
        match RULES.iter().find(|rule| text.starts_with(rule.0)) {
            Some(rule) => {
                result.push_str(rule.1);
                text = &text[rule.0.len()..];
            }
            None => {
                result.push(first);
                text = &text[first.len_utf8()..];
            }
        }
    }
    result
}

fn count_fields(line: &str, counts: &mut Counts) {
    counts.bytes += line.len() as u64;
    for field in line.split('|') {
        let field = field.trim_matches(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
        if !field.is_empty() {
            *counts.tokens.entry(rewritten(field)).or_insert(0) += 1;
            counts.total += 1;
        }
    }
}

fn count(lines: &[&str], visits: u64) -> Counts {
    let mut counts = Counts::default();
    for i in 0..visits {
        count_fields(lines[(i % lines.len() as u64) as usize], &mut counts);
    }
    counts
}

fn main() {
    let text = String::from_utf8(bench::read_input()).unwrap_or_else(|_| {
        eprintln!("the records are not UTF-8");
        std::process::exit(2)
    });
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        eprintln!("no records");
        std::process::exit(2)
    }
    let visits = bench::steps(1_048_576, 16_777_216);
    let counts = bench::repeat(|| count(&lines, visits));
    let mut sorted: Vec<(&String, &u64)> = counts.tokens.iter().collect();
    sorted.sort();
    for (token, times) in &sorted {
        println!("{} {}", token, times);
    }
    println!("TOTAL {} {} {}", counts.total, sorted.len(), counts.bytes);
}
