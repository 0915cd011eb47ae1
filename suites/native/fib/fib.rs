// Naive recursion: the cost of calls. Prints fib(ASSAY_BENCH_SIZE), 40 by default.
#[path = "../common/bench.rs"]
mod bench;

fn fib(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

fn main() {
    let n = bench::size(40, 50);
    println!("{}", bench::repeat(|| fib(bench::opaque(n))));
}
