// A database of seeded rows in DIR: ASSAY_BENCH_SIZE transactions (120) of ASSAY_BENCH_STEPS inserts
// (500), of which every 5th meets a key that exists and is rolled back, and every 7th is rolled back
// on purpose. A committed one is followed by an update and a deletion. Prints the configuration, the
// outcomes, all groups, the first rows in order and a digest of every row in order.
use std::ffi::{CStr, CString};
use std::fmt::Write;
use std::os::raw::{c_char, c_int, c_void};
use std::process::exit;
use std::ptr::null_mut;

#[path = "../common/bench.rs"]
mod bench;

const MODULUS: u64 = 1_000_000_007;
const OWNERS: i64 = 97;
const SHOWN_ROWS: u64 = 20;

const OK: c_int = 0;
const CONSTRAINT: c_int = 19;
const ROW: c_int = 100;
const DONE: c_int = 101;
const TRANSIENT: isize = -1; // the library copies the text

#[link(name = "sqlite3")]
extern "C" {
    fn sqlite3_open(path: *const c_char, handle: *mut *mut c_void) -> c_int;
    fn sqlite3_close(handle: *mut c_void) -> c_int;
    fn sqlite3_errmsg(handle: *mut c_void) -> *const c_char;
    fn sqlite3_exec(
        handle: *mut c_void,
        sql: *const c_char,
        callback: *mut c_void,
        argument: *mut c_void,
        message: *mut *mut c_char,
    ) -> c_int;
    fn sqlite3_prepare_v2(
        handle: *mut c_void,
        sql: *const c_char,
        size: c_int,
        statement: *mut *mut c_void,
        tail: *mut *const c_char,
    ) -> c_int;
    fn sqlite3_finalize(statement: *mut c_void) -> c_int;
    fn sqlite3_bind_int64(statement: *mut c_void, index: c_int, value: i64) -> c_int;
    fn sqlite3_bind_text(
        statement: *mut c_void,
        index: c_int,
        text: *const c_char,
        size: c_int,
        release: isize,
    ) -> c_int;
    fn sqlite3_step(statement: *mut c_void) -> c_int;
    fn sqlite3_reset(statement: *mut c_void) -> c_int;
    fn sqlite3_column_int64(statement: *mut c_void, column: c_int) -> i64;
    fn sqlite3_column_text(statement: *mut c_void, column: c_int) -> *const u8;
    fn sqlite3_column_bytes(statement: *mut c_void, column: c_int) -> c_int;
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("no NUL in our texts")
}

fn give_up(handle: *mut c_void, what: &str) -> ! {
    let message = unsafe { CStr::from_ptr(sqlite3_errmsg(handle)) };
    eprintln!("{}: {}", what, message.to_string_lossy());
    exit(2)
}

struct Database(*mut c_void);

impl Database {
    fn open(path: &str) -> Database {
        let mut handle = null_mut();
        if unsafe { sqlite3_open(c_text(path).as_ptr(), &mut handle) } != OK {
            give_up(handle, path);
        }
        Database(handle)
    }

    fn run(&self, sql: &str) {
        let text = c_text(sql);
        if unsafe { sqlite3_exec(self.0, text.as_ptr(), null_mut(), null_mut(), null_mut()) } != OK {
            give_up(self.0, sql);
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        unsafe { sqlite3_close(self.0) };
    }
}

struct Statement<'a> {
    database: &'a Database,
    handle: *mut c_void,
}

impl<'a> Statement<'a> {
    fn new(database: &'a Database, sql: &str) -> Statement<'a> {
        let mut handle = null_mut();
        let text = c_text(sql);
        let code = unsafe {
            sqlite3_prepare_v2(database.0, text.as_ptr(), -1, &mut handle, null_mut())
        };
        if code != OK {
            give_up(database.0, sql);
        }
        Statement { database, handle }
    }

    fn bind(&self, index: c_int, value: i64) {
        unsafe { sqlite3_bind_int64(self.handle, index, value) };
    }

    fn bind_text(&self, index: c_int, text: &str) {
        let bytes = text.as_ptr() as *const c_char;
        let size = text.len() as c_int;
        unsafe { sqlite3_bind_text(self.handle, index, bytes, size, TRANSIENT) };
    }

    /// Runs to the end. False: a key exists already.
    fn execute(&self) -> bool {
        let code = unsafe { sqlite3_step(self.handle) };
        unsafe { sqlite3_reset(self.handle) };
        if code != DONE && code != CONSTRAINT {
            give_up(self.database.0, "a statement failed");
        }
        code == DONE
    }

    fn next_row(&self) -> bool {
        let code = unsafe { sqlite3_step(self.handle) };
        if code != DONE && code != ROW {
            give_up(self.database.0, "a query failed");
        }
        code == ROW
    }

    fn integer(&self, column: c_int) -> i64 {
        unsafe { sqlite3_column_int64(self.handle, column) }
    }

    fn text(&self, column: c_int) -> String {
        let bytes = unsafe {
            let start = sqlite3_column_text(self.handle, column);
            let size = sqlite3_column_bytes(self.handle, column) as usize;
            std::slice::from_raw_parts(start, size)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        unsafe { sqlite3_finalize(self.handle) };
    }
}

/// How many transactions were committed, met a conflict, were rolled back.
fn fill(database: &Database, transactions: u64, inserts: u64) -> [u64; 3] {
    let insert = Statement::new(
        database,
        "INSERT INTO job(id, owner, score, title) VALUES(?, ?, ?, ?)",
    );
    let update = Statement::new(database, "UPDATE job SET score = score + 1 WHERE owner = ?");
    let remove = Statement::new(database, "DELETE FROM job WHERE owner = ? AND score % 11 = 0");
    let mut outcomes = [0; 3];
    let mut state: i64 = 7;
    for t in 0..transactions {
        database.run("BEGIN IMMEDIATE");
        let first = (t * inserts) as i64 + 1;
        let mut good = true;
        for i in 0..inserts as i64 {
            state = state * 48_271 % 2_147_483_647;
            insert.bind(1, first + i);
            insert.bind(2, state % OWNERS);
            insert.bind(3, state / OWNERS % 10_007);
            insert.bind_text(4, &format!("job {} of {}", state % 9973, t));
            good = insert.execute() && good;
        }
        if t % 5 == 4 {
            insert.bind(1, first);
            good = insert.execute() && good;
        }
        if !good || t % 7 == 6 {
            database.run("ROLLBACK");
            outcomes[if good { 2 } else { 1 }] += 1;
            continue;
        }
        database.run("COMMIT");
        outcomes[0] += 1;
        let owner = t as i64 % OWNERS;
        update.bind(1, owner);
        update.execute();
        remove.bind(1, (owner + 1) % OWNERS);
        remove.execute();
    }
    outcomes
}

fn groups(database: &Database, out: &mut String) {
    let query = Statement::new(
        database,
        "SELECT owner, COUNT(*), SUM(score), MIN(score), MAX(score) FROM job \
         GROUP BY owner ORDER BY owner",
    );
    while query.next_row() {
        let numbers: Vec<String> = (0..5).map(|c| query.integer(c).to_string()).collect();
        let _ = writeln!(out, "group {}", numbers.join(" "));
    }
}

fn rows(database: &Database, out: &mut String) {
    let query = Statement::new(
        database,
        "SELECT id, owner, score, title FROM job ORDER BY score DESC, id",
    );
    let mut digest: u64 = 0;
    let mut count: u64 = 0;
    while query.next_row() {
        let row = format!(
            "{} {} {} {}",
            query.integer(0),
            query.integer(1),
            query.integer(2),
            query.text(3)
        );
        for byte in row.bytes() {
            digest = (33 * digest + u64::from(byte)) % MODULUS;
        }
        if count < SHOWN_ROWS {
            let _ = writeln!(out, "row {}", row);
        }
        count += 1;
    }
    let _ = writeln!(out, "TOTAL {} {}", count, digest);
}

fn work(path: &str, transactions: u64, inserts: u64) -> String {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{}", path, suffix));
    }
    let database = Database::open(path);
    let mut out = String::new();
    for pragma in [
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = NORMAL",
        "PRAGMA cache_size = -8000",
        "PRAGMA temp_store = MEMORY",
    ] {
        database.run(pragma);
    }
    for name in ["journal_mode", "synchronous", "cache_size", "temp_store", "page_size"] {
        let query = Statement::new(&database, &format!("PRAGMA {}", name));
        query.next_row();
        let _ = writeln!(out, "{} {}", name, query.text(0));
    }
    database.run(
        "CREATE TABLE job(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, \
         score INTEGER NOT NULL, title TEXT NOT NULL); \
         CREATE INDEX by_owner ON job(owner, score)",
    );
    let [committed, conflicts, rolled_back] = fill(&database, transactions, inserts);
    let _ = writeln!(
        out,
        "committed {} conflicts {} rolled_back {}",
        committed, conflicts, rolled_back
    );
    groups(&database, &mut out);
    rows(&database, &mut out);
    out
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 2 {
        eprintln!("usage: {} DIR", words[0]);
        exit(2)
    }
    let path = format!("{}/job.sqlite", words[1]);
    let transactions = bench::size(120, 100_000);
    let inserts = bench::steps(500, 100_000);
    print!("{}", bench::repeat(|| work(&path, transactions, inserts)));
}
