// The word count: splits a file on ASCII whitespace and prints its 20 most frequent words as
// "word count", then "TOTAL words unique".
//
//   wordcount FILE
use std::collections::HashMap;
use std::io::Write;

#[path = "../common/bench.rs"]
mod bench;

const TOP: usize = 20;

#[derive(PartialEq, Default)]
struct Counts<'a> {
    words: HashMap<&'a [u8], i64>,
    total: i64,
}

fn is_space(byte: &u8) -> bool {
    *byte == b' ' || (b'\t'..=b'\r').contains(byte)
}

fn count_words(text: &[u8]) -> Counts {
    let mut counts = Counts::default();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        *counts.words.entry(word).or_insert(0) += 1;
        counts.total += 1;
    }
    counts
}

fn main() -> std::io::Result<()> {
    let text = bench::read_input();
    let counts = bench::repeat(|| count_words(&text));
    let mut ranked: Vec<(&[u8], i64)> = counts.words.iter().map(|(word, n)| (*word, *n)).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let mut out = std::io::stdout();
    for (word, times) in ranked.iter().take(TOP) {
        out.write_all(word)?;
        writeln!(out, " {}", times)?;
    }
    writeln!(out, "TOTAL {} {}", counts.total, ranked.len())
}
