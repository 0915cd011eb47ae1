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
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::process::exit;

#[path = "../common/bench.rs"]
mod bench;
mod durable;

use durable::{give_up, must, Directory, Faults, Kind, Log, Record};

const MODULUS: u64 = 1_000_000_007;
const PRIME: u64 = 2_147_483_647;
const MULTIPLIER: u64 = 48_271;
const WEIGHT: u64 = 69_621;

const MOST_BATCH: u64 = 128;
const MOST_FAILURES: u64 = 3; // then the job is a dead letter
const MOST_DELIVERIES: u64 = 16; // for a job that kills its worker
const SLICES: u64 = 3; // of a long job; it is renewed between them
const LEASE: u64 = 4; // ticks, from the claim on
const RENEWAL: u64 = 16; // ticks: it has shown that it lives
const BACKOFF: u64 = 4; // ticks, doubled by each failure

/// What the client is told. It is not part of the worker's state: a client is another machine.
struct Answers(Option<File>);

impl Answers {
    fn tell(&mut self, what: &str, record: &Record, count: u64) {
        if let Some(file) = &mut self.0 {
            let line =
                format!("{} {} {} {} {}\n", what, record.job, record.tick, record.value, count);
            must(file.write_all(line.as_bytes()), "write");
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Waiting,
    Done,
    Dead,
}

#[derive(Default)]
struct Job {
    id: u64,
    phase: Phase,
    deliveries: u64,
    failures: u64,
    not_before: u64, // the tick at which a lease or a pause ends
    seed: u64,
    state: u64,
    digest: u64,
}

/// How often a job fails before it succeeds.
fn failures_of(id: u64) -> u64 {
    if id % 13 == 6 {
        return MOST_FAILURES;
    }
    if id % 11 == 5 {
        return 2;
    }
    u64::from(id % 7 == 3)
}

fn slices_of(id: u64) -> u64 {
    if id % 5 == 0 {
        SLICES
    } else {
        1
    }
}

impl Job {
    fn fails(&self) -> bool {
        self.failures < failures_of(self.id)
    }

    /// An attempt that fails does so in its first slice.
    fn goes_on(&self, slice: u64) -> bool {
        slice == 0 || (slice < slices_of(self.id) && !self.fails())
    }

    fn work_slice(&mut self, slice: u64, steps: u64) {
        let slices = slices_of(self.id);
        let mut state = if slice == 0 { self.seed } else { self.state };
        let mut digest = if slice == 0 { 0 } else { self.digest };
        for _ in steps * slice / slices..steps * (slice + 1) / slices {
            state = state * MULTIPLIER % PRIME;
            digest = (digest * WEIGHT + state) % PRIME;
        }
        self.state = state;
        self.digest = digest;
    }
}

struct Options {
    jobs: u64,
    steps: u64,
    first: u64,
    answers: Option<String>,
}

struct Worker<'a> {
    options: &'a Options,
    batch: u64,
    faults: &'a mut Faults,
    queue: Log,
    ledger: Log,
    answers: Answers,
    opened: bool,
    now: u64,
    jobs: BTreeMap<u64, Job>,
    effects: BTreeMap<u64, u64>, // by job
}

impl<'a> Worker<'a> {
    fn new(path: &str, options: &'a Options, faults: &'a mut Faults) -> Worker<'a> {
        let directory = Directory::open(path);
        let mut worker = Worker {
            options,
            batch: (options.jobs / 4).clamp(1, MOST_BATCH),
            faults,
            queue: Log::open(&format!("{}/queue.log", path)),
            ledger: Log::open(&format!("{}/effects.log", path)),
            answers: Answers(options.answers.as_deref().map(durable::append_to)),
            opened: false,
            now: 0,
            jobs: BTreeMap::new(),
            effects: BTreeMap::new(),
        };
        directory.sync();
        worker.recover();
        worker
    }

    fn recover(&mut self) {
        self.faults.pass("recovery.cut");
        // A kill without a power cut leaves records that can be read and are not durable. What is
        // promised from here on may rest on them.
        self.queue.sync();
        self.faults.pass("recovery.queue");
        self.ledger.sync();
        self.faults.pass("recovery.after");
        for record in self.queue.found() {
            self.take(&record);
        }
        for record in self.ledger.found() {
            self.effects.insert(record.job, record.value);
        }
    }

    fn run(&mut self) -> String {
        let mut next = self.options.first;
        loop {
            if next <= self.options.jobs {
                next = self.enqueue(next);
            }
            let batch = self.ready();
            if batch.is_empty() && next > self.options.jobs {
                return self.summary();
            }
            if !batch.is_empty() {
                self.deliver(&batch);
            }
        }
    }

    /// The one place where the state changes, whether a record was just synced or was found.
    fn take(&mut self, record: &Record) {
        self.now = self.now.max(record.tick);
        if record.kind == Kind::Open {
            self.opened = true;
            if record.job != self.options.jobs || record.value != self.options.steps {
                give_up("this queue was made with other parameters");
            }
            return;
        }
        let job = self.jobs.entry(record.job).or_default();
        match record.kind {
            Kind::Enqueue => {
                *job = Job { id: record.job, seed: record.value, ..Job::default() };
            }
            Kind::Claim => {
                job.deliveries += 1;
                job.not_before = record.value;
            }
            Kind::Renew => job.not_before = record.value,
            Kind::Fail => {
                job.failures += 1;
                job.not_before = record.value;
            }
            Kind::Done => job.phase = Phase::Done,
            Kind::Dead => {
                job.phase = Phase::Dead;
                job.failures = record.value;
            }
            Kind::Open | Kind::Effect => give_up("a record of an unknown kind"),
        }
    }

    fn record(&self, kind: Kind, job: u64, value: u64) -> Record {
        Record { kind, job, tick: self.now, value }
    }

    fn enqueue(&mut self, first: u64) -> u64 {
        let last = (first + self.batch - 1).min(self.options.jobs);
        let (mut records, mut told) = (Vec::new(), Vec::new());
        if !self.opened {
            records.push(self.record(Kind::Open, self.options.jobs, self.options.steps));
        }
        for id in first..=last {
            let record = self.record(Kind::Enqueue, id, (7 + 7919 * id) % PRIME);
            told.push(record);
            // The client asks again for what it was not told of, and for what it forgot.
            if self.jobs.contains_key(&id) {
                continue;
            }
            records.push(record);
        }
        if !records.is_empty() {
            self.faults.pass("enqueue.before");
            self.queue.write(&records);
            self.faults.pass("enqueue.written");
            self.queue.sync();
            self.faults.pass("enqueue.after");
        }
        for record in &records {
            self.take(record);
        }
        for record in &told {
            self.answers.tell("enqueued", record, 0);
        }
        last + 1
    }

    /// The jobs whose turn it is; when there are none, the clock goes on to the next one's.
    fn ready(&mut self) -> Vec<u64> {
        let waiting = || self.jobs.values().filter(|job| job.phase == Phase::Waiting);
        let earliest = match waiting().map(|job| job.not_before).min() {
            None => return Vec::new(),
            Some(tick) => tick,
        };
        let now = earliest.max(self.now + 1);
        let due = waiting().filter(|job| job.not_before <= now);
        let batch = due.map(|job| job.id).take(self.batch as usize).collect();
        self.now = now;
        batch
    }

    fn deliver(&mut self, batch: &[u64]) {
        let (mut live, mut outcomes) = (Vec::new(), Vec::new());
        for &id in batch {
            if self.jobs[&id].deliveries < MOST_DELIVERIES {
                live.push(id);
            } else if let Some(&effect) = self.effects.get(&id) {
                outcomes.push(self.record(Kind::Done, id, effect));
            } else {
                outcomes.push(self.record(Kind::Dead, id, self.jobs[&id].failures));
            }
        }
        self.claim(&live);
        for slice in 0..SLICES {
            self.work(&live, slice);
        }
        self.apply(&live);
        outcomes.extend(live.iter().map(|id| self.outcome(&self.jobs[id])));
        self.settle(&outcomes);
    }

    fn claim(&mut self, batch: &[u64]) {
        if batch.is_empty() {
            return;
        }
        let records: Vec<Record> =
            batch.iter().map(|&id| self.record(Kind::Claim, id, self.now + LEASE)).collect();
        self.faults.pass("claim.before");
        self.queue.write(&records);
        self.faults.pass("claim.written");
        self.queue.sync();
        self.faults.pass("claim.after");
        for record in &records {
            self.take(record);
            self.answers.tell("claimed", record, self.jobs[&record.job].deliveries);
        }
    }

    fn work(&mut self, batch: &[u64], slice: u64) {
        self.now += 1;
        let now = self.now;
        let mut renewals = Vec::new();
        for id in batch {
            let job = match self.jobs.get_mut(id) {
                Some(job) if job.goes_on(slice) => job,
                _ => continue,
            };
            job.work_slice(slice, self.options.steps);
            if job.goes_on(slice + 1) {
                let value = now + RENEWAL;
                renewals.push(Record { kind: Kind::Renew, job: *id, tick: now, value });
            }
        }
        if renewals.is_empty() {
            return;
        }
        self.faults.pass("renew.before");
        self.queue.write(&renewals);
        self.faults.pass("renew.written");
        self.queue.sync();
        self.faults.pass("renew.after");
        for record in &renewals {
            self.take(record);
            self.answers.tell("renewed", record, 0);
        }
    }

    fn apply(&mut self, batch: &[u64]) {
        let mut effects = Vec::new();
        for id in batch {
            let job = &self.jobs[id];
            if job.fails() {
                continue;
            }
            // An earlier delivery may have come as far as here.
            if self.effects.contains_key(id) {
                continue;
            }
            effects.push(self.record(Kind::Effect, *id, job.digest));
        }
        if effects.is_empty() {
            return;
        }
        self.faults.pass("effect.before");
        self.ledger.write(&effects);
        self.faults.pass("effect.written");
        self.ledger.sync();
        self.faults.pass("effect.after");
        for record in &effects {
            self.effects.insert(record.job, record.value);
        }
    }

    fn outcome(&self, job: &Job) -> Record {
        if !job.fails() {
            return self.record(Kind::Done, job.id, job.digest);
        }
        if job.failures + 1 < MOST_FAILURES {
            return self.record(Kind::Fail, job.id, self.now + (BACKOFF << job.failures));
        }
        self.record(Kind::Dead, job.id, MOST_FAILURES)
    }

    fn settle(&mut self, outcomes: &[Record]) {
        self.faults.pass("ack.before");
        self.queue.write(outcomes);
        self.faults.pass("ack.written");
        self.queue.sync();
        self.faults.pass("ack.after");
        for record in outcomes {
            self.take(record);
            let what = match record.kind {
                Kind::Done => "done",
                Kind::Dead => "dead",
                _ => "failed",
            };
            self.answers.tell(what, record, self.jobs[&record.job].failures);
        }
    }

    fn summary(&self) -> String {
        let (mut completed, mut retried, mut dead, mut digest) = (0, 0, 0, 0);
        for (id, job) in &self.jobs {
            match job.phase {
                Phase::Dead => dead += 1,
                _ if job.failures > 0 => retried += 1,
                _ => completed += 1,
            }
            let effect = self.effects.get(id).copied().unwrap_or(0);
            for value in [*id, u64::from(job.phase == Phase::Dead), job.failures, effect] {
                digest = (65_599 * digest + value) % MODULUS;
            }
        }
        format!(
            "jobs {}\ncompleted {} retried {} dead {}\neffects {}\nTOTAL {}\n",
            self.jobs.len(),
            completed,
            retried,
            dead,
            self.effects.len(),
            digest
        )
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 2 && words.len() != 4 {
        eprintln!("usage: {} DIR [FIRST ANSWERS]", words[0]);
        exit(2)
    }
    let options = Options {
        jobs: bench::size(512, 100_000),
        steps: bench::steps(524_288, 1_000_000_000),
        first: words.get(2).map_or(1, |text| text.parse().unwrap_or(0)),
        answers: words.get(3).cloned(),
    };
    let mut faults = Faults::new();
    let mut repetition = 0;
    let out = bench::repeat(|| {
        let directory = format!("{}/{}", words[1], repetition);
        repetition += 1;
        durable::make_directory(&directory);
        Directory::open(&words[1]).sync();
        Worker::new(&directory, &options, &mut faults).run()
    });
    print!("{}", out);
}
