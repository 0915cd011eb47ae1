// Four dependent passes over a byte buffer of ASSAY_BENCH_SIZE bytes (32 MiB by default): each byte
// is changed and then enters a running checksum. Prints the checksum, the first and the last byte.
#[path = "../common/bench.rs"]
mod bench;

const PASSES: u8 = 4;
const MODULUS: u64 = 1_000_000_007;

fn scan(size: u64) -> [u64; 3] {
    let mut bytes: Vec<u8> = (0..size).map(|i| (17 * i + 23) as u8).collect();
    let mut sum: u64 = 0;
    for pass in 0..PASSES {
        for byte in bytes.iter_mut() {
            *byte = byte.wrapping_add(pass + 1);
            sum = (33 * sum + u64::from(*byte)) % MODULUS;
        }
    }
    [sum, u64::from(bytes[0]), u64::from(bytes[bytes.len() - 1])]
}

fn main() {
    let size = bench::size(33_554_432, 1_073_741_824);
    for value in bench::repeat(|| scan(bench::opaque(size))) {
        println!("{}", value);
    }
}
