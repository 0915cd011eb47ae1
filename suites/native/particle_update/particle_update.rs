// Symplectic Euler steps of particles that lie on an exact binary lattice, so that no rounding is
// involved: ASSAY_BENCH_SIZE particles (10,000) over ASSAY_BENCH_STEPS steps (32,768). Prints a
// digest of all six fields, the number of particles and of steps.
#[path = "../common/bench.rs"]
mod bench;

const MODULUS: i64 = 1_000_000_007;
const DT: f64 = 1.0 / 64.0;

struct Particle {
    x: f64,
    y: f64,
    vx: f64,
    vy: f64,
    ax: f64,
    ay: f64,
}

fn seeded(count: u64) -> Vec<Particle> {
    let mut state: u64 = 7;
    let mut field = || {
        state = state * 48_271 % 2_147_483_647;
        ((state % 2048) as f64 - 1024.0) / 1024.0
    };
    (0..count)
        .map(|_| Particle {
            x: field(),
            y: field(),
            vx: field(),
            vy: field(),
            ax: field(),
            ay: field(),
        })
        .collect()
}

fn digest(particles: &[Particle]) -> i64 {
    let mut h: i64 = 0;
    for p in particles {
        for value in [p.x, p.y, p.vx, p.vy, p.ax, p.ay] {
            h = (33 * h + (value * 65536.0) as i64).rem_euclid(MODULUS);
        }
    }
    h
}

fn simulate(count: u64, steps: u64) -> i64 {
    let mut particles = seeded(count);
    for _ in 0..steps {
        for p in particles.iter_mut() {
            p.vx += p.ax;
            p.vy += p.ay;
            p.x += p.vx * DT;
            p.y += p.vy * DT;
        }
    }
    digest(&particles)
}

fn main() {
    let count = bench::size(10_000, 10_000);
    let steps = bench::steps(32_768, 65_536);
    let digest = bench::repeat(|| simulate(bench::opaque(count), bench::opaque(steps)));
    println!("{}\n{}\n{}", digest, count, steps);
}
