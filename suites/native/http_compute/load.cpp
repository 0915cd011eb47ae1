// The load generator of http_compute, and its driver: starts a server, sends ASSAY_BENCH_SIZE
// requests (4096) ASSAY_BENCH_ITERATIONS times, checks every answer, stops the server.
//
//   load throughput|latency|capacity --table FILE (--serve PROGRAM [--port N] | --port N) [OPTION
//   N]
//
// throughput sends as fast as the connections allow, latency at --rate whatever the answers do, and
// capacity looks for the greatest rate that the server sustains. Prints the result of the requests,
// which is the same for every right server; the figures are one line of JSON, in the file that
// --metrics names or, without one, on standard output in place of the result. Exit codes: 0, 1 an
// answer was wrong or missing, 2 there was no run, 3 the generator was late: the run does not
// count. docs/design/http-compute-case.md says more.
#include "client.h"

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sys/prctl.h>

#include "../common/bench.h"

namespace {

using load::End;
using load::Ns;
using load::Sample;

constexpr std::uint64_t kDefaultRequests = 4096;
constexpr std::uint64_t kMostRequests = 1000000;
constexpr std::uint64_t kModulus = 1000000007;
constexpr double kBisected = 1.03;  // the bounds of a capacity are this close at the end
constexpr int kMostSteps = 40;
constexpr int kMostLate = 8;  // steps; then the generator is the limit
constexpr double kMostRate = 1e6;
constexpr std::size_t kLeastStep = 1000;  // requests: a p99 needs as many

struct Options {
  std::string mode, table, serve, metrics;
  std::map<std::string, std::uint64_t> numbers = {
      {"--port", 0},       {"--rate", 1000},       {"--connections", 64}, {"--seed", 0},
      {"--slip-us", 1000}, {"--timeout-ms", 5000}, {"--p99-us", 20000},   {"--step-ms", 500}};
  std::uint64_t at(const char* name) const { return numbers.at(name); }
};

[[noreturn]] void usage() {
  load::give_up(
      "usage: load throughput|latency|capacity --table FILE (--serve PROGRAM | --port N) "
      "[--metrics FILE] [--rate N] [--seed N: Poisson] [--connections N] [--timeout-ms N] "
      "[--slip-us N] [--p99-us N] [--step-ms N]");
}

Options read_options(int argc, char** argv) {
  Options options;
  options.mode = argc > 1 ? argv[1] : "";
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    std::string* const text = name == "--table"     ? &options.table
                              : name == "--serve"   ? &options.serve
                              : name == "--metrics" ? &options.metrics
                                                    : nullptr;
    const auto number = options.numbers.find(name);
    if (text != nullptr)
      *text = value;
    else if (number != options.numbers.end() && !value.empty() && value.size() <= 9 &&
             value.find_first_not_of("0123456789") == std::string::npos)
      number->second = std::stoull(value);
    else
      usage();
  }
  const bool mode =
      options.mode == "throughput" || options.mode == "latency" || options.mode == "capacity";
  for (const char* name : {"--rate", "--connections", "--timeout-ms", "--step-ms"})
    if (options.at(name) == 0)
      usage();
  if (!mode || argc % 2 != 0 || options.table.empty() || options.at("--connections") > 1000 ||
      options.at("--port") > 65535 || (options.serve.empty() && options.at("--port") == 0))
    usage();
  return options;
}

std::vector<load::Exchange> read_table(const std::string& path) {
  std::vector<load::Exchange> table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || space % 2 != 0)
      load::give_up(path + ": expected lines of a body in hex and its digest");
    std::string body;
    for (std::size_t at = 0; at < space; at += 2)
      body += static_cast<char>(std::stoi(line.substr(at, 2), nullptr, 16));
    table.push_back({"POST /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body,
                     line.substr(space + 1)});
  }
  if (table.empty())
    load::give_up(path + ": no table of requests could be read");
  return table;
}

// Constant gaps, or with a seed exponential ones: the times of a Poisson process.
std::vector<Ns> schedule(std::size_t count, double rate, std::uint64_t seed) {
  std::vector<Ns> due;
  std::uint64_t state = seed;
  double at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    due.push_back(static_cast<Ns>(at * 1e9));
    state = state * 6364136223846793005 + 1442695040888963407;
    const double uniform = (static_cast<double>(state >> 11) + 1) / 9007199254740993.0;
    at = seed == 0 ? static_cast<double>(i + 1) / rate : at - std::log(uniform) / rate;
  }
  return due;
}

// ---- figures
// -------------------------------------------------------------------------------------

Ns percentile(const std::vector<Ns>& sorted, double share) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

struct Figures {
  std::uint64_t scheduled = 0, sent = 0, queued = 0, completed = 0, wrong = 0, errors = 0,
                timeouts = 0;
  double throughput_rps = 0;
  std::vector<Ns> latencies, slips;  // sorted

  bool right() const { return completed == scheduled && wrong == 0; }
  Ns slip() const { return percentile(slips, 0.99); }
};

// A request without an answer has the latency of a timeout, however fast it failed.
Figures figures_of(const std::vector<Sample>& samples, Ns timeout) {
  Figures f;
  Ns first = 0, last = 0;
  for (const Sample& one : samples) {
    const bool whole = one.end == End::right || one.end == End::wrong;
    ++f.scheduled;
    f.sent += one.sent != 0;
    f.queued += one.sent == 0 || one.sent - one.noticed > load::kSecond / 1000;
    f.completed += whole;
    f.wrong += one.end == End::wrong;
    f.errors += one.end == End::error;
    f.timeouts += one.end == End::timeout;
    first = first == 0 ? one.due : std::min(first, one.due);
    last = std::max(last, one.done);
    const Ns latency = one.done - one.due;
    f.latencies.push_back(whole ? latency : std::max(latency, timeout));
    f.slips.push_back(one.noticed - one.due);
  }
  f.throughput_rps =
      static_cast<double>(f.completed) * 1e9 / static_cast<double>(std::max<Ns>(1, last - first));
  std::sort(f.latencies.begin(), f.latencies.end());
  std::sort(f.slips.begin(), f.slips.end());
  return f;
}

std::string field(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\":%.*f", name, value == std::floor(value) ? 0 : 3, value);
  return text;
}
std::string field(const char* name, std::uint64_t value) {
  return '"' + std::string(name) + "\":" + std::to_string(value);
}

std::string json(const Figures& f) {
  std::string out = field("scheduled", f.scheduled) + ',' + field("sent", f.sent) + ',' +
                    field("queued", f.queued) + ',' + field("completed", f.completed) + ',' +
                    field("wrong", f.wrong) + ',' + field("errors", f.errors) + ',' +
                    field("timeouts", f.timeouts) + ',' + field("throughput_rps", f.throughput_rps);
  const std::pair<const char*, double> shares[] = {
      {"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"p999_ns", 0.999}, {"max_ns", 1}};
  for (const auto& [name, share] : shares)
    out += ',' + field(name, static_cast<std::uint64_t>(percentile(f.latencies, share)));
  return out + ',' + field("slip_p99_ns", static_cast<std::uint64_t>(f.slip())) + ',' +
         field("slip_max_ns", static_cast<std::uint64_t>(f.slips.back()));
}

// What all requests came to, or with several repetitions one of them: each must be like the first.
std::string result(const std::vector<Sample>& samples, const Figures& f, std::size_t block) {
  std::uint64_t first = 0, digest = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    digest = (65599 * (i % block == 0 ? 0 : digest) + samples[i].digest) % kModulus;
    if (i + 1 == block)
      first = digest;
    if ((i + 1) % block == 0 && digest != first && f.right())
      load::give_up("repetition " + std::to_string(i / block + 1) + " gave another result");
  }
  const std::uint64_t repetitions = f.right() ? samples.size() / block : 1;
  return "requests " + std::to_string(f.scheduled / repetitions) + "\ncompleted " +
         std::to_string(f.completed / repetitions) + " wrong " + std::to_string(f.wrong) +
         " errors " + std::to_string(f.errors) + " timeouts " + std::to_string(f.timeouts) +
         "\nTOTAL " + std::to_string(first) + '\n';
}

// ---- modes
// ---------------------------------------------------------------------------------------

struct Outcome {
  int code = 0;
  std::string result, json;
};

Outcome measure(load::Client* client, const Options& options) {
  const std::size_t block = bench::size(kDefaultRequests, kMostRequests);
  const std::size_t count = block * bench::parameter("ASSAY_BENCH_ITERATIONS", 1, kMostRequests);
  if (count > 10 * kMostRequests)
    load::give_up("at most 10000000 requests in one run");
  const bool closed = options.mode == "throughput";
  const auto rate = static_cast<double>(options.at("--rate"));
  const load::Plan plan{
      closed ? std::vector<Ns>(count) : schedule(count, rate, options.at("--seed")), closed, block};
  const std::vector<Sample> samples = client->run(plan);
  const Figures f = figures_of(samples, static_cast<Ns>(options.at("--timeout-ms")) * 1000000);
  const bool late = !closed && f.slip() > static_cast<Ns>(options.at("--slip-us")) * 1000;
  std::string line = "{\"mode\":\"" + options.mode + "\"," +
                     (closed ? "" : field("rate_rps", rate) + ',') + json(f) +
                     ",\"valid\":" + (late ? "false" : "true") + '}';
  return {!f.right() ? 1 : late ? 3 : 0, result(samples, f, block), line};
}

// Doubles the rate until a step fails, then halves the interval. A step that fails is tried once
// more: a disturbance of the host is not a lack of capacity. A step that fails and in which the
// generator was late, by a quarter of the latencies, says nothing about the server: it is done
// again.
class Search {
 public:
  Search(load::Client* client, const Options& options) : client_(client), options_(options) {}

  Outcome run() {
    double good = 0, bad = 0, rate = static_cast<double>(options_.at("--rate"));
    while (code_ == 0 && (bad == 0 || bad > good * kBisected)) {
      const bool sustained = step(rate) || (code_ == 0 && step(rate));
      (sustained ? good : bad) = rate;
      rate = bad == 0 ? good * 2 : good == 0 ? bad / 2 : (good + bad) / 2;
    }
    return {code_, "",
            "{\"mode\":\"capacity\"," + field("capacity_rps", code_ == 0 ? good : 0) +
                ",\"valid\":" + (code_ == 0 ? "true" : "false") + ",\"steps\":[" + steps_ + "]}"};
  }

 private:
  bool step(double rate) {
    const auto wanted = rate * static_cast<double>(options_.at("--step-ms")) / 1000;
    const std::size_t count = std::max(kLeastStep, static_cast<std::size_t>(wanted));
    const load::Plan plan{schedule(count, rate, options_.at("--seed")), false, count};
    bool late = true, good = false;
    while (late && code_ == 0) {
      const Figures f =
          figures_of(client_->run(plan), static_cast<Ns>(options_.at("--timeout-ms")) * 1000000);
      const Ns p99 = percentile(f.latencies, 0.99);
      good = static_cast<double>(f.completed) >= 0.99 * static_cast<double>(count) &&
             p99 <= static_cast<Ns>(options_.at("--p99-us")) * 1000;
      late = !good && f.slip() > p99 / 4;
      late_ += late;
      steps_ += std::string(count_++ == 0 ? "" : ",") + '{' + field("rate_rps", rate) + ',' +
                json(f) + ",\"late\":" + (late ? "true" : "false") +
                ",\"sustained\":" + (good ? "true" : "false") + '}';
      if (f.wrong > 0)
        code_ = 1;
      else if (late_ > kMostLate || count_ >= kMostSteps || rate > kMostRate || rate < 1)
        code_ = 3;
    }
    return good;
  }

  load::Client* client_;
  const Options& options_;
  int code_ = 0, count_ = 0, late_ = 0;
  std::string steps_;
};

void write_metrics(const Options& options, const Outcome& outcome) {
  if (options.metrics.empty()) {
    std::printf("%s\n", outcome.json.c_str());
    return;
  }
  std::ofstream file(options.metrics, std::ios::trunc);
  file << outcome.json << '\n';
  file.close();
  if (!file)
    load::give_up(options.metrics + ": could not be written");
  std::fputs(outcome.result.c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const std::vector<load::Exchange> table = read_table(options.table);
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // ppoll would be up to 50 us late
  std::unique_ptr<load::Server> server;
  auto port = static_cast<std::uint16_t>(options.at("--port"));
  if (!options.serve.empty()) {
    server = std::make_unique<load::Server>(options.serve, port);
    port = server->port();
  }
  load::wait_until_ready(port);
  const load::Limits limits{options.at("--connections"),
                            static_cast<Ns>(options.at("--timeout-ms")) * 1000000};
  load::Client client(port, limits, table);
  Outcome outcome =
      options.mode == "capacity" ? Search(&client, options).run() : measure(&client, options);
  if (server != nullptr && !server->stop()) {
    std::fprintf(stderr, "%s: the server did not end as it should\n", options.serve.c_str());
    outcome.code = outcome.code == 0 ? 1 : outcome.code;
  }
  write_metrics(options, outcome);
  return outcome.code;
}
