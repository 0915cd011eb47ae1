// A small HTTP/1.1 service on 127.0.0.1: POST /digest answers with a digest of its body, computed in
// ASSAY_BENCH_STEPS rounds (64); GET /ready answers "ready". One thread, one poll loop, connections
// kept alive, pipelined requests answered in their order, one per connection and turn.
//
//   http_compute [PORT]
//
// Without a PORT, or with 0, the system chooses one. Prints "listening PORT", and ends on SIGTERM
// and at the end of its standard input, so that it does not outlive whoever started it.
// docs/design/http-compute-case.md says what is accepted. The standard library has no poll and no
// signals: both are called in the C library that it is linked with.
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::raw::{c_int, c_short, c_ulong, c_void};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::atomic::{AtomicI32, Ordering};

#[path = "../common/bench.rs"]
mod bench;

const DEFAULT_ROUNDS: u64 = 64;
const MOST_ROUNDS: u64 = 1_000_000;
const MODULUS: u64 = 1_000_000_007;
const MOST_HEAD: usize = 4096;
const MOST_BODY: usize = 65_536;
const MOST_CONNECTIONS: usize = 1024;
const MOST_OUTPUT: usize = 65_536; // waiting to be written: then no more is read
const MOST_DRAINED: usize = 262_144; // read and dropped after a refusal, then closed

const POLLIN: c_short = 1;
const POLLOUT: c_short = 4;
const POLLERR: c_short = 8;
const POLLHUP: c_short = 16;
const SIGTERM: c_int = 15;

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

extern "C" {
    fn poll(polled: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn write(fd: c_int, bytes: *const c_void, size: usize) -> isize;
}

fn give_up(what: &str) -> ! {
    eprintln!("{}", what);
    exit(2)
}

// ---- requests ----------------------------------------------------------------------------------

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Incomplete,
    Digest,
    Ready,
    Refused,
}

struct Request {
    kind: Kind,
    status: u32, // of a refusal
    head: usize,
    body: usize,
    last: bool, // the client wants no further answer
}

const INCOMPLETE: Request =
    Request { kind: Kind::Incomplete, status: 0, head: 0, body: 0, last: false };

fn refusal(status: u32) -> Request {
    Request { kind: Kind::Refused, status, head: 0, body: 0, last: true }
}

#[derive(Default)]
struct Headers {
    hosts: u32,
    lengths: u32,
    length: usize,
    close: bool,
}

fn is_token(text: &[u8]) -> bool {
    let good = |c: &u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.iter().all(good)
}

fn is_value(text: &[u8]) -> bool {
    text.iter().all(|&c| c == b'\t' || (c >= 0x20 && c != 0x7f))
}

fn is_target(text: &[u8]) -> bool {
    text.first() == Some(&b'/') && text.iter().all(|&c| c > 0x20 && c < 0x7f)
}

fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// A length that is too long to count is as good as the first one that is too long to accept.
fn read_length(text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    let mut length = 0;
    for c in text {
        if !c.is_ascii_digit() {
            return None;
        }
        length = (length * 10 + usize::from(c - b'0')).min(MOST_BODY + 1);
    }
    Some(length)
}

fn read_header(line: &[u8], headers: &mut Headers) -> Option<()> {
    let colon = line.iter().position(|&c| c == b':')?;
    let (name, value) = (&line[..colon], trimmed(&line[colon + 1..]));
    let is = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
    if !is_token(name) || !is_value(value) || is(b"transfer-encoding") || is(b"expect") {
        return None;
    }
    headers.hosts += u32::from(is(b"host"));
    if is(b"connection") {
        headers.close |= value.eq_ignore_ascii_case(b"close");
    }
    if is(b"content-length") {
        headers.lengths += 1;
        headers.length = read_length(value)?;
        if headers.lengths > 1 {
            return None;
        }
    }
    Some(())
}

/// What the target and the method come to, with a head that is well formed.
fn routed(method: &[u8], target: &[u8], headers: &Headers) -> Request {
    let digest = target == b"/digest";
    if !digest && target != b"/ready" {
        return refusal(404);
    }
    if method != if digest { &b"POST"[..] } else { &b"GET"[..] } {
        return refusal(405);
    }
    if digest && headers.lengths == 0 {
        return refusal(411);
    }
    if headers.length > MOST_BODY {
        return refusal(413);
    }
    if !digest && headers.length > 0 {
        return refusal(400);
    }
    let kind = if digest { Kind::Digest } else { Kind::Ready };
    Request { kind, status: 0, head: 0, body: headers.length, last: headers.close }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn parse(input: &[u8]) -> Request {
    let end = match find(&input[..input.len().min(MOST_HEAD)], b"\r\n\r\n") {
        Some(end) => end,
        None if input.len() >= MOST_HEAD => return refusal(431),
        None => return INCOMPLETE,
    };
    let mut request = parse_head(&input[..end + 2]).unwrap_or_else(|| refusal(400));
    request.head = end + 4;
    if request.kind != Kind::Refused && input.len() < request.head + request.body {
        return INCOMPLETE;
    }
    request
}

fn parse_head(mut lines: &[u8]) -> Option<Request> {
    let first = &lines[..find(lines, b"\r\n")?];
    lines = &lines[first.len() + 2..];
    let one = first.iter().position(|&c| c == b' ')?;
    let two = one + 1 + first[one + 1..].iter().position(|&c| c == b' ')?;
    let (method, target) = (&first[..one], &first[one + 1..two]);
    if !is_token(method) || !is_target(target) || &first[two + 1..] != b"HTTP/1.1" {
        return None;
    }
    let mut headers = Headers::default();
    while !lines.is_empty() {
        let line = &lines[..find(lines, b"\r\n")?];
        lines = &lines[line.len() + 2..];
        read_header(line, &mut headers)?;
    }
    if headers.hosts != 1 {
        return None;
    }
    Some(routed(method, target, &headers))
}

// ---- answers -----------------------------------------------------------------------------------

fn digest(body: &[u8], rounds: u64) -> u64 {
    let mut h = 0;
    for _ in 0..rounds {
        for &byte in body {
            h = (33 * h + u64::from(byte) + 1) % MODULUS;
        }
    }
    h
}

fn reason(status: u32) -> &'static str {
    match status {
        200 => "OK",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        _ => "Bad Request",
    }
}

fn answer(status: u32, body: &str, last: bool, output: &mut Vec<u8>) {
    let close = if last { "Connection: close\r\n" } else { "" };
    let _ = write!(
        output,
        "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n{}\r\n{}",
        status,
        reason(status),
        body.len(),
        close,
        body
    );
}

struct Connection {
    stream: TcpStream,
    rounds: u64,
    input: Vec<u8>,
    output: Vec<u8>,
    drained: usize,
    more: bool,     // there may be a whole request in the input
    ended: bool,    // the client sends no more
    finished: bool, // the last answer is in the output
    shut: bool,
    closed: bool,
}

fn is_passing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

impl Connection {
    fn new(stream: TcpStream, rounds: u64) -> Connection {
        Connection {
            stream,
            rounds,
            input: Vec::new(),
            output: Vec::new(),
            drained: 0,
            more: false,
            ended: false,
            finished: false,
            shut: false,
            closed: false,
        }
    }

    fn events(&self) -> c_short {
        let reads = !self.ended && !self.more && self.output.len() < MOST_OUTPUT;
        (if reads { POLLIN } else { 0 }) | (if self.output.is_empty() { 0 } else { POLLOUT })
    }

    fn turn(&mut self, events: c_short) {
        if events & (POLLIN | POLLHUP | POLLERR) != 0 && !self.ended {
            self.read();
        }
        if !self.closed && !self.finished && self.output.len() < MOST_OUTPUT {
            self.serve();
        }
        if !self.closed && !self.output.is_empty() {
            self.write();
        }
        if !self.closed && self.finished && self.output.is_empty() {
            self.finish();
        }
    }

    fn read(&mut self) {
        let mut buffer = [0; 16_384];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(got) if self.finished => self.drained += got,
            Ok(got) => self.input.extend_from_slice(&buffer[..got]),
            Err(error) => self.closed = !is_passing(&error),
        }
    }

    /// At most one request, so that a client with many does not keep the others waiting.
    fn serve(&mut self) {
        let request = parse(&self.input);
        self.more = false;
        let used = request.head + request.body;
        match request.kind {
            Kind::Incomplete => {
                self.finished = self.ended;
                if self.ended && !self.input.is_empty() {
                    answer(400, reason(400), true, &mut self.output);
                }
                return;
            }
            Kind::Digest => {
                let value = digest(&self.input[request.head..used], self.rounds);
                answer(200, &value.to_string(), request.last, &mut self.output);
            }
            Kind::Ready => answer(200, "ready", request.last, &mut self.output),
            Kind::Refused => {
                answer(request.status, reason(request.status), true, &mut self.output)
            }
        }
        self.input.drain(..used);
        self.finished = request.last;
        self.more = !self.finished && (!self.input.is_empty() || self.ended);
    }

    fn write(&mut self) {
        match self.stream.write(&self.output) {
            Ok(sent) => {
                self.output.drain(..sent);
            }
            Err(error) => self.closed = !is_passing(&error),
        }
    }

    /// Closing with bytes unread would reset the connection, and the client might miss the answer.
    fn finish(&mut self) {
        if !self.shut {
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        self.shut = true;
        self.closed = self.ended || self.drained > MOST_DRAINED;
    }
}

// ---- the service -------------------------------------------------------------------------------

static WAKE_END: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_term(_: c_int) {
    let byte = 0u8;
    unsafe { write(WAKE_END.load(Ordering::Relaxed), &byte as *const u8 as *const c_void, 1) };
}

fn listen_on(port: u16) -> TcpListener {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap_or_else(|error| {
        if error.kind() == ErrorKind::AddrInUse {
            give_up(&format!(
                "127.0.0.1:{}: address in use; stop what listens there, or give port 0 for a free one",
                port
            ))
        }
        give_up(&format!("127.0.0.1:{}: {}", port, error))
    });
    let good = listener.set_nonblocking(true);
    good.unwrap_or_else(|error| give_up(&format!("socket: {}", error)));
    listener
}

fn accept_all(listener: &TcpListener, rounds: u64, connections: &mut Vec<Connection>) {
    while connections.len() < MOST_CONNECTIONS {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(_) => return,
        };
        if stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok() {
            connections.push(Connection::new(stream, rounds));
        }
    }
}

/// Whether standard input still has a writer.
fn parent_is_there() -> bool {
    let mut buffer = [0; 256];
    !matches!(std::io::stdin().read(&mut buffer), Ok(0))
}

fn serve(listener: &TcpListener, wake: &UnixStream, rounds: u64) {
    let mut connections: Vec<Connection> = Vec::new();
    let mut polled = Vec::new();
    loop {
        let full = connections.len() >= MOST_CONNECTIONS;
        let accepting = if full { -1 } else { listener.as_raw_fd() };
        polled.clear();
        for fd in [wake.as_raw_fd(), 0, accepting] {
            polled.push(PollFd { fd, events: POLLIN, revents: 0 });
        }
        let mut more = false;
        for one in &connections {
            let (fd, events) = (one.stream.as_raw_fd(), one.events());
            polled.push(PollFd { fd, events, revents: 0 });
            more = more || one.more;
        }
        let timeout = if more { 0 } else { -1 };
        if unsafe { poll(polled.as_mut_ptr(), polled.len() as c_ulong, timeout) } < 0 {
            let error = Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                give_up(&format!("poll: {}", error));
            }
            continue;
        }
        if polled[0].revents != 0 || (polled[1].revents != 0 && !parent_is_there()) {
            return;
        }
        for (one, polled) in connections.iter_mut().zip(&polled[3..]) {
            if polled.revents != 0 || one.more {
                one.turn(polled.revents);
            }
        }
        connections.retain(|one| !one.closed);
        if polled[2].revents != 0 {
            accept_all(listener, rounds, &mut connections);
        }
    }
}

fn read_port() -> u16 {
    let words: Vec<_> = std::env::args().collect();
    let text = words.get(1).map_or("0", |word| word);
    let digits = !text.is_empty() && text.len() <= 5 && text.bytes().all(|c| c.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && words.len() <= 2 => port,
        _ => give_up(&format!("usage: {} [PORT], 0 to 65535", words[0])),
    }
}

fn main() {
    let port = read_port();
    let rounds = bench::steps(DEFAULT_ROUNDS, MOST_ROUNDS);
    let (wake, waker) =
        UnixStream::pair().unwrap_or_else(|error| give_up(&format!("socketpair: {}", error)));
    WAKE_END.store(waker.as_raw_fd(), Ordering::Relaxed);
    unsafe { signal(SIGTERM, on_term) };
    let listener = listen_on(port);
    let address = listener.local_addr();
    let port = address.unwrap_or_else(|error| give_up(&format!("socket: {}", error))).port();
    println!("listening {}", port);
    let _ = std::io::stdout().flush();
    serve(&listener, &wake, rounds);
}
