// A durable job worker: ASSAY_BENCH_SIZE jobs (512) with ASSAY_BENCH_STEPS steps of work each
// (524288) go through a queue in DIR to a ledger of effects outside the queue. Repetition i works
// in DIR/i, where queue.log is the queue and effects.log the ledger. What is found there is taken
// up, so the same command continues after a kill. Prints how the jobs ended and a digest of them
// all.
//
//   worker DIR [FIRST ANSWERS]
//
// A client asks for the jobs from FIRST (1) on; what it is told is appended to the file ANSWERS.
// Nothing is told before what it promises was synced. ASSAY_FAULT=POINT:N kills the program at the
// N-th passage of a point. docs/design/worker-case.md has the formats and the promises.
#include "durable.h"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../common/bench.h"

namespace {

using durable::Kind;
using durable::Record;

constexpr std::uint64_t kDefaultJobs = 512;
constexpr std::uint64_t kMostJobs = 100000;
constexpr std::uint64_t kDefaultSteps = 524288;
constexpr std::uint64_t kMostSteps = 1000000000;
constexpr std::uint64_t kModulus = 1000000007;
constexpr std::uint64_t kPrime = 2147483647;
constexpr std::uint64_t kMultiplier = 48271;
constexpr std::uint64_t kWeight = 69621;

constexpr std::uint64_t kMostBatch = 128;
constexpr std::uint64_t kMostFailures = 3;     // then the job is a dead letter
constexpr std::uint64_t kMostDeliveries = 16;  // for a job that kills its worker
constexpr std::uint64_t kSlices = 3;           // of a long job; it is renewed between them
constexpr std::uint64_t kLease = 4;            // ticks, from the claim on
constexpr std::uint64_t kRenewal = 16;         // ticks: it has shown that it lives
constexpr std::uint64_t kBackoff = 4;          // ticks, doubled by each failure

// What the client is told. It is not part of the worker's state: a client is another machine.
class Answers {
 public:
  explicit Answers(const char* path) {
    if (path != nullptr)
      file_.emplace(path, O_WRONLY | O_CREAT | O_APPEND);
  }
  void tell(const char* what, const Record& record, std::uint64_t count) const {
    if (!file_)
      return;
    std::string line = what;
    for (const std::uint64_t value : {record.job, record.tick, record.value, count})
      line += ' ' + std::to_string(value);
    file_->write(line + '\n');
  }

 private:
  std::optional<durable::Descriptor> file_;
};

enum class Phase : std::uint8_t { waiting, done, dead };

struct Job {
  std::uint64_t id = 0;
  Phase phase = Phase::waiting;
  std::uint64_t deliveries = 0, failures = 0;
  std::uint64_t not_before = 0;  // the tick at which a lease or a pause ends
  std::uint64_t seed = 0, state = 0, digest = 0;
};

// How often a job fails before it succeeds.
std::uint64_t failures_of(std::uint64_t id) {
  if (id % 13 == 6)
    return kMostFailures;
  if (id % 11 == 5)
    return 2;
  return id % 7 == 3 ? 1 : 0;
}

bool fails(const Job& job) {
  return job.failures < failures_of(job.id);
}

std::uint64_t slices_of(std::uint64_t id) {
  return id % 5 == 0 ? kSlices : 1;
}

// An attempt that fails does so in its first slice.
bool goes_on(const Job& job, std::uint64_t slice) {
  return slice == 0 || (slice < slices_of(job.id) && !fails(job));
}

void work_slice(Job& job, std::uint64_t slice, std::uint64_t steps) {
  const std::uint64_t slices = slices_of(job.id);
  std::uint64_t state = slice == 0 ? job.seed : job.state;
  std::uint64_t digest = slice == 0 ? 0 : job.digest;
  for (std::uint64_t i = steps * slice / slices; i < steps * (slice + 1) / slices; ++i) {
    state = state * kMultiplier % kPrime;
    digest = (digest * kWeight + state) % kPrime;
  }
  job.state = state;
  job.digest = digest;
}

class Worker {
 public:
  struct Options {
    std::uint64_t jobs, steps, first;
    const char* answers;
  };

  Worker(const std::string& directory, const Options& options, durable::Faults& faults)
      : options_(options),
        batch_(std::clamp<std::uint64_t>(options.jobs / 4, 1, kMostBatch)),
        faults_(faults),
        directory_(directory),
        queue_(directory + "/queue.log"),
        ledger_(directory + "/effects.log"),
        answers_(options.answers) {
    directory_.sync();
    faults_.pass("recovery.cut");
    // A kill without a power cut leaves records that can be read and are not durable. What is
    // promised from here on may rest on them.
    queue_.sync();
    faults_.pass("recovery.queue");
    ledger_.sync();
    faults_.pass("recovery.after");
    for (const Record& record : queue_.found())
      take(record);
    for (const Record& record : ledger_.found())
      effects_.emplace(record.job, record.value);
  }

  std::string run() {
    std::uint64_t next = options_.first;
    for (;;) {
      if (next <= options_.jobs)
        next = enqueue(next);
      std::vector<Job*> batch = ready();
      if (batch.empty() && next > options_.jobs)
        return summary();
      if (!batch.empty())
        deliver(batch);
    }
  }

 private:
  // The one place where the state changes, whether a record was just synced or found at the start.
  void take(const Record& record) {
    now_ = std::max(now_, record.tick);
    if (record.kind == Kind::open) {
      opened_ = true;
      if (record.job != options_.jobs || record.value != options_.steps)
        durable::give_up("this queue was made with other parameters");
      return;
    }
    Job& job = jobs_[record.job];
    switch (record.kind) {
      case Kind::enqueue:
        job = Job();
        job.id = record.job;
        job.seed = record.value;
        break;
      case Kind::claim:
        ++job.deliveries;
        job.not_before = record.value;
        break;
      case Kind::renew:
        job.not_before = record.value;
        break;
      case Kind::fail:
        ++job.failures;
        job.not_before = record.value;
        break;
      case Kind::done:
        job.phase = Phase::done;
        break;
      case Kind::dead:
        job.phase = Phase::dead;
        job.failures = record.value;
        break;
      default:
        durable::give_up("a record of an unknown kind");
    }
  }

  std::uint64_t enqueue(std::uint64_t first) {
    const std::uint64_t last = std::min(first + batch_ - 1, options_.jobs);
    std::vector<Record> records, told;
    if (!opened_)
      records.push_back({Kind::open, options_.jobs, now_, options_.steps});
    for (std::uint64_t id = first; id <= last; ++id) {
      const Record record = {Kind::enqueue, id, now_, (7 + 7919 * id) % kPrime};
      told.push_back(record);
      // The client asks again for what it was not told of, and for what it forgot.
      if (jobs_.count(id) != 0)
        continue;
      records.push_back(record);
    }
    if (!records.empty()) {
      faults_.pass("enqueue.before");
      queue_.write(records);
      faults_.pass("enqueue.written");
      queue_.sync();
      faults_.pass("enqueue.after");
    }
    for (const Record& record : records)
      take(record);
    for (const Record& record : told)
      answers_.tell("enqueued", record, 0);
    return last + 1;
  }

  // The jobs whose turn it is; when there are none, the clock goes on to the next one's.
  std::vector<Job*> ready() {
    std::uint64_t earliest = UINT64_MAX;
    for (const auto& [id, job] : jobs_)
      if (job.phase == Phase::waiting)
        earliest = std::min(earliest, job.not_before);
    std::vector<Job*> batch;
    if (earliest == UINT64_MAX)
      return batch;
    now_ = std::max(now_ + 1, earliest);
    for (auto& [id, job] : jobs_)
      if (job.phase == Phase::waiting && job.not_before <= now_ && batch.size() < batch_)
        batch.push_back(&job);
    return batch;
  }

  void deliver(const std::vector<Job*>& batch) {
    std::vector<Job*> live;
    std::vector<Record> outcomes;
    for (Job* job : batch) {
      if (job->deliveries < kMostDeliveries)
        live.push_back(job);
      else if (const auto found = effects_.find(job->id); found != effects_.end())
        outcomes.push_back({Kind::done, job->id, now_, found->second});
      else
        outcomes.push_back({Kind::dead, job->id, now_, job->failures});
    }
    claim(live);
    for (std::uint64_t slice = 0; slice < kSlices; ++slice)
      work(live, slice);
    apply(live);
    for (const Job* job : live)
      outcomes.push_back(outcome(*job));
    settle(outcomes);
  }

  void claim(const std::vector<Job*>& batch) {
    if (batch.empty())
      return;
    std::vector<Record> records;
    for (const Job* job : batch)
      records.push_back({Kind::claim, job->id, now_, now_ + kLease});
    faults_.pass("claim.before");
    queue_.write(records);
    faults_.pass("claim.written");
    queue_.sync();
    faults_.pass("claim.after");
    for (const Record& record : records) {
      take(record);
      answers_.tell("claimed", record, jobs_[record.job].deliveries);
    }
  }

  void work(const std::vector<Job*>& batch, std::uint64_t slice) {
    ++now_;
    std::vector<Record> renewals;
    for (Job* job : batch) {
      if (!goes_on(*job, slice))
        continue;
      work_slice(*job, slice, options_.steps);
      if (goes_on(*job, slice + 1))
        renewals.push_back({Kind::renew, job->id, now_, now_ + kRenewal});
    }
    if (renewals.empty())
      return;
    faults_.pass("renew.before");
    queue_.write(renewals);
    faults_.pass("renew.written");
    queue_.sync();
    faults_.pass("renew.after");
    for (const Record& record : renewals) {
      take(record);
      answers_.tell("renewed", record, 0);
    }
  }

  void apply(const std::vector<Job*>& batch) {
    std::vector<Record> effects;
    for (const Job* job : batch) {
      if (fails(*job))
        continue;
      // An earlier delivery may have come as far as here.
      if (effects_.count(job->id) != 0)
        continue;
      effects.push_back({Kind::effect, job->id, now_, job->digest});
    }
    if (effects.empty())
      return;
    faults_.pass("effect.before");
    ledger_.write(effects);
    faults_.pass("effect.written");
    ledger_.sync();
    faults_.pass("effect.after");
    for (const Record& record : effects)
      effects_.emplace(record.job, record.value);
  }

  Record outcome(const Job& job) const {
    if (!fails(job))
      return {Kind::done, job.id, now_, job.digest};
    if (job.failures + 1 < kMostFailures)
      return {Kind::fail, job.id, now_, now_ + (kBackoff << job.failures)};
    return {Kind::dead, job.id, now_, kMostFailures};
  }

  void settle(const std::vector<Record>& outcomes) {
    faults_.pass("ack.before");
    queue_.write(outcomes);
    faults_.pass("ack.written");
    queue_.sync();
    faults_.pass("ack.after");
    for (const Record& record : outcomes) {
      take(record);
      const char* what = record.kind == Kind::done   ? "done"
                         : record.kind == Kind::dead ? "dead"
                                                     : "failed";
      answers_.tell(what, record, jobs_[record.job].failures);
    }
  }

  std::string summary() const {
    std::uint64_t completed = 0, retried = 0, dead = 0, digest = 0;
    for (const auto& [id, job] : jobs_) {
      ++(job.phase == Phase::dead ? dead : job.failures > 0 ? retried : completed);
      const auto found = effects_.find(id);
      const std::uint64_t effect = found == effects_.end() ? 0 : found->second;
      for (const std::uint64_t value :
           {id, std::uint64_t{job.phase == Phase::dead}, job.failures, effect})
        digest = (65599 * digest + value) % kModulus;
    }
    return "jobs " + std::to_string(jobs_.size()) + "\ncompleted " + std::to_string(completed) +
           " retried " + std::to_string(retried) + " dead " + std::to_string(dead) + "\neffects " +
           std::to_string(effects_.size()) + "\nTOTAL " + std::to_string(digest) + '\n';
  }

  Options options_;
  std::uint64_t batch_;
  durable::Faults& faults_;
  durable::Directory directory_;
  durable::Log queue_, ledger_;
  Answers answers_;
  bool opened_ = false;
  std::uint64_t now_ = 0;
  std::map<std::uint64_t, Job> jobs_;
  std::map<std::uint64_t, std::uint64_t> effects_;  // by job
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: %s DIR [FIRST ANSWERS]\n", argv[0]);
    return 2;
  }
  const std::string root = argv[1];
  const std::uint64_t first = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const Worker::Options options = {bench::size(kDefaultJobs, kMostJobs),
                                   bench::steps(kDefaultSteps, kMostSteps), first,
                                   argc == 4 ? argv[3] : nullptr};
  durable::Faults faults;
  int repetition = 0;
  const std::string out = bench::repeat([&] {
    const std::string directory = root + '/' + std::to_string(repetition++);
    durable::make_directory(directory);
    durable::Directory(root).sync();
    return Worker(directory, options, faults).run();
  });
  std::fwrite(out.data(), 1, out.size(), stdout);
}
