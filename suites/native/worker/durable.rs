// The file layer of the worker, and the points at which it can be made to die: the counterpart of
// durable.h. Everything that the worker writes and syncs goes through here, in the same way with
// and without faults.
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::raw::c_int;
use std::process::exit;

extern "C" {
    fn raise(signal: c_int) -> c_int;
}
const SIGKILL: c_int = 9;

pub fn give_up(what: impl Display) -> ! {
    eprintln!("{}", what);
    exit(2)
}

/// The value, or the end of the program with what failed.
pub fn must<T>(result: std::io::Result<T>, what: &str) -> T {
    result.unwrap_or_else(|error| give_up(format!("{}: {}", what, error)))
}

const POINTS: [&str; 18] = [
    "recovery.cut",
    "recovery.queue",
    "recovery.after",
    "enqueue.before",
    "enqueue.written",
    "enqueue.after",
    "claim.before",
    "claim.written",
    "claim.after",
    "renew.before",
    "renew.written",
    "renew.after",
    "effect.before",
    "effect.written",
    "effect.after",
    "ack.before",
    "ack.written",
    "ack.after",
];

pub struct Faults {
    point: String,
    left: u64,
}

impl Faults {
    pub fn new() -> Faults {
        let text = match std::env::var("ASSAY_FAULT") {
            Err(_) => return Faults { point: String::new(), left: 0 },
            Ok(text) => text,
        };
        let (point, count) = text.split_once(':').unwrap_or((&text, ""));
        let left = count.parse().unwrap_or(0);
        if left == 0 || !POINTS.contains(&point) {
            give_up("ASSAY_FAULT must be POINT:N");
        }
        Faults { point: point.to_string(), left }
    }

    pub fn pass(&mut self, point: &str) {
        if self.left > 0 && point == self.point {
            self.left -= 1;
            if self.left == 0 {
                unsafe { raise(SIGKILL) };
            }
        }
    }
}

pub struct Directory(File);

impl Directory {
    pub fn open(path: &str) -> Directory {
        Directory(must(File::open(path), path))
    }

    /// An entry is durable when the directory was synced after it was made. One that is found may
    /// have been made by a run that was killed before that, so this is for every start.
    pub fn sync(&self) {
        must(self.0.sync_all(), "fsync of a directory");
    }
}

pub fn make_directory(path: &str) {
    match fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => (),
        result => must(result, path),
    }
}

pub fn append_to(path: &str) -> File {
    must(OpenOptions::new().read(true).append(true).create(true).open(path), path)
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Open = 1,
    Enqueue,
    Claim,
    Renew,
    Fail,
    Done,
    Dead,
    Effect,
}

impl Kind {
    fn from(byte: u8) -> Kind {
        match byte {
            1 => Kind::Open,
            2 => Kind::Enqueue,
            3 => Kind::Claim,
            4 => Kind::Renew,
            5 => Kind::Fail,
            6 => Kind::Done,
            7 => Kind::Dead,
            8 => Kind::Effect,
            _ => give_up("a record of an unknown kind"),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Record {
    pub kind: Kind,
    pub job: u64,
    pub tick: u64,
    pub value: u64,
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 != 0 { 0xEDB8_8320 } else { 0 };
        }
    }
    !crc
}

fn get(bytes: &[u8], at: usize, count: usize) -> u64 {
    bytes[at..at + count].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Records of a fixed size behind their length and checksum, only ever appended.
pub struct Log {
    file: File,
    found: Vec<Record>,
}

const PAYLOAD: usize = 25;
const FRAME: usize = 8 + PAYLOAD;

impl Log {
    pub fn open(path: &str) -> Log {
        let mut log = Log { file: append_to(path), found: Vec::new() };
        let mut bytes = Vec::new();
        must(log.file.read_to_end(&mut bytes), path);
        let mut good = 0;
        while good + FRAME <= bytes.len() && log.take(&bytes[good..good + FRAME]) {
            good += FRAME;
        }
        // What follows the last whole record was never synced, or was torn by a crash. New records
        // behind it would never be read.
        if good < bytes.len() {
            must(log.file.set_len(good as u64), "ftruncate");
        }
        log
    }

    pub fn found(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.found)
    }

    pub fn write(&mut self, records: &[Record]) {
        let mut out = Vec::new();
        for record in records {
            let mut payload = vec![record.kind as u8];
            for value in [record.job, record.tick, record.value] {
                payload.extend(value.to_le_bytes());
            }
            out.extend((payload.len() as u32).to_le_bytes());
            out.extend(crc32(&payload).to_le_bytes());
            out.extend(payload);
        }
        must(self.file.write_all(&out), "write");
    }

    pub fn sync(&self) {
        must(self.file.sync_all(), "fsync");
    }

    fn take(&mut self, frame: &[u8]) -> bool {
        let payload = &frame[8..];
        if get(frame, 0, 4) != PAYLOAD as u64 {
            return false;
        }
        if get(frame, 4, 4) != u64::from(crc32(payload)) {
            return false;
        }
        self.found.push(Record {
            kind: Kind::from(payload[0]),
            job: get(payload, 1, 8),
            tick: get(payload, 9, 8),
            value: get(payload, 17, 8),
        });
        true
    }
}
