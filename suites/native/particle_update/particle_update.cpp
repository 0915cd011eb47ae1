// Symplectic Euler steps of particles that lie on an exact binary lattice, so that no rounding is
// involved: ASSAY_BENCH_SIZE particles (10,000) over ASSAY_BENCH_STEPS steps (32,768). Prints a
// digest of all six fields, the number of particles and of steps.
#include <vector>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kMostParticles = 10000;
constexpr std::uint64_t kDefaultSteps = 32768;
constexpr std::uint64_t kMostSteps = 65536;
constexpr std::int64_t kModulus = 1000000007;
constexpr double kDt = 1.0 / 64;

struct Particle {
  double x, y, vx, vy, ax, ay;
};

std::vector<Particle> seeded(std::uint64_t count) {
  std::uint64_t state = 7;
  const auto field = [&state] {
    state = state * 48271 % 2147483647;
    return (static_cast<double>(state % 2048) - 1024) / 1024;
  };
  std::vector<Particle> particles(count);
  for (Particle& p : particles)
    for (double Particle::*member :
         {&Particle::x, &Particle::y, &Particle::vx, &Particle::vy, &Particle::ax, &Particle::ay})
      p.*member = field();
  return particles;
}

std::int64_t digest(const std::vector<Particle>& particles) {
  std::int64_t h = 0;
  for (const Particle& p : particles) {
    for (const double value : {p.x, p.y, p.vx, p.vy, p.ax, p.ay}) {
      h = (33 * h + static_cast<std::int64_t>(value * 65536)) % kModulus;
      h += h < 0 ? kModulus : 0;
    }
  }
  return h;
}

std::int64_t simulate(std::uint64_t count, std::uint64_t steps) {
  std::vector<Particle> particles = seeded(count);
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (Particle& p : particles) {
      p.vx += p.ax;
      p.vy += p.ay;
      p.x += p.vx * kDt;
      p.y += p.vy * kDt;
    }
  }
  return digest(particles);
}

}  // namespace

int main() {
  const std::uint64_t count = bench::size(kMostParticles, kMostParticles);
  const std::uint64_t steps = bench::steps(kDefaultSteps, kMostSteps);
  bench::print(static_cast<std::uint64_t>(
      bench::repeat([&] { return simulate(bench::opaque(count), bench::opaque(steps)); })));
  bench::print(count);
  bench::print(steps);
}
