// Builds, walks and drops full binary trees whose nodes are allocated one by one:
// ASSAY_BENCH_STEPS trees (16) of depth ASSAY_BENCH_SIZE (19). Prints a digest of the trees' hashes,
// the number of nodes and of trees.
#[path = "../common/bench.rs"]
mod bench;

const MODULUS: u64 = 1_000_000_007;
const SEED_MODULUS: u64 = 2_147_483_647;

enum Node {
    Leaf(u32),
    Inner(u32, Box<Node>, Box<Node>),
}

fn build(seed: u64, depth: u64) -> Box<Node> {
    let value = (seed % 1000) as u32;
    Box::new(if depth == 0 {
        Node::Leaf(value)
    } else {
        Node::Inner(
            value,
            build((seed * 48_271 + 17) % SEED_MODULUS, depth - 1),
            build((seed * 69_621 + 31) % SEED_MODULUS, depth - 1),
        )
    })
}

fn walk(node: &Node) -> u64 {
    match node {
        Node::Leaf(value) => u64::from(*value),
        Node::Inner(value, left, right) => {
            (33 * walk(left) + 17 * u64::from(*value) + 97 * walk(right)) % MODULUS
        }
    }
}

fn trees(depth: u64, rounds: u64) -> u64 {
    let mut digest = 0;
    for round in 0..rounds {
        let root = build(7 + 7919 * round, depth);
        digest = (65_599 * digest + walk(&root)) % MODULUS;
    }
    digest
}

fn main() {
    let depth = bench::size(19, 20);
    let rounds = bench::steps(16, 64);
    let digest = bench::repeat(|| trees(bench::opaque(depth), rounds));
    println!("{}\n{}\n{}", digest, rounds * ((2 << depth) - 1), rounds);
}
