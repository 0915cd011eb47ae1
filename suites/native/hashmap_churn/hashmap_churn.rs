// Updates and removals in two hash maps of at most 4,096 keys, one keyed by integers and one by
// strings: ASSAY_BENCH_SIZE operations (2,097,152 by default). Prints a weighted sum of the counts
// of each map, then the number of keys of each.
use std::collections::HashMap;

#[path = "../common/bench.rs"]
mod bench;

const KEYS: u32 = 4096;

/// One word of a linear congruential generator modulo 2^31.
fn next(state: u32) -> u32 {
    state.wrapping_mul(1_103_515_245).wrapping_add(12_345) % 2_147_483_648
}

fn churn(names: &[String], operations: u64) -> [u64; 4] {
    let mut by_number: HashMap<u32, u64> = HashMap::new();
    let mut by_name: HashMap<&str, u64> = HashMap::new();
    let mut state: u32 = 7;
    for i in 0..operations {
        state = next(state);
        let key = state % KEYS;
        *by_number.entry(key).or_insert(0) += 1;
        *by_name.entry(&names[key as usize]).or_insert(0) += 1;
        if i % 7 == 0 {
            let gone = (key + 17) % KEYS;
            by_number.remove(&gone);
            by_name.remove(names[gone as usize].as_str());
        }
    }
    let mut result = [0, 0, by_number.len() as u64, by_name.len() as u64];
    for key in 0..KEYS {
        let weight = u64::from(key) + 1;
        result[0] += weight * by_number.get(&key).copied().unwrap_or(0);
        result[1] += weight * by_name.get(names[key as usize].as_str()).copied().unwrap_or(0);
    }
    result
}

fn main() {
    let operations = bench::size(2_097_152, 1_000_000_000);
    let names: Vec<String> = (0..KEYS).map(|key| format!("k{}", key)).collect();
    for value in bench::repeat(|| churn(&names, operations)) {
        println!("{}", value);
    }
}
