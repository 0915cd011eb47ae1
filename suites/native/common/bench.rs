// What every Rust program of the suite needs: its parameters and its repetitions. The counterpart of
// bench.h; the same rules hold.
#![allow(dead_code)]

use std::process::exit;

/// The value of an environment variable, `fallback` when it is not set.
pub fn parameter(name: &str, fallback: u64, maximum: u64) -> u64 {
    let text = match std::env::var_os(name) {
        None => return fallback,
        Some(text) => text.into_string().unwrap_or_default(),
    };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u64>() {
        Ok(value) if digits && value >= 1 && value <= maximum => value,
        _ => {
            eprintln!("{} must be 1 to {}", name, maximum);
            exit(2)
        }
    }
}

pub fn size(fallback: u64, maximum: u64) -> u64 {
    parameter("ASSAY_BENCH_SIZE", fallback, maximum)
}

pub fn steps(fallback: u64, maximum: u64) -> u64 {
    parameter("ASSAY_BENCH_STEPS", fallback, maximum)
}

/// The same value, which the compiler cannot know: it keeps repeated work from being done once.
pub fn opaque(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

/// `work` as often as asked; every result must equal the first.
pub fn repeat<T: PartialEq>(mut work: impl FnMut() -> T) -> T {
    let iterations = parameter("ASSAY_BENCH_ITERATIONS", 1, 1_000_000);
    let first = work();
    for i in 1..iterations {
        if work() != first {
            eprintln!("repetition {} gave another result", i + 1);
            exit(1)
        }
    }
    first
}

/// The whole of a file, or exit code 2.
pub fn read_input() -> Vec<u8> {
    let words: Vec<_> = std::env::args_os().collect();
    if words.len() != 2 {
        eprintln!("usage: {} FILE", words[0].to_string_lossy());
        exit(2)
    }
    std::fs::read(&words[1]).unwrap_or_else(|_| {
        eprintln!("{}: could not be read", words[1].to_string_lossy());
        exit(2)
    })
}
