// A database of seeded rows in DIR: ASSAY_BENCH_SIZE transactions (120) of ASSAY_BENCH_STEPS
// inserts (500), of which every 5th meets a key that exists and is rolled back, and every 7th is
// rolled back on purpose. A committed one is followed by an update and a deletion. Prints the
// configuration, the outcomes, all groups, the first rows in order and a digest of every row in
// order.
#include <sqlite3.h>
#include <string>

#include "../common/bench.h"

namespace {

constexpr std::uint64_t kDefaultTransactions = 120;
constexpr std::uint64_t kMostTransactions = 100000;
constexpr std::uint64_t kDefaultInserts = 500;
constexpr std::uint64_t kMostInserts = 100000;
constexpr std::uint64_t kModulus = 1000000007;
constexpr std::int64_t kOwners = 97;
constexpr int kShownRows = 20;

[[noreturn]] void give_up(sqlite3* database, const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  std::exit(2);
}

class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK)
      give_up(handle_, path.c_str());
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const char* sql) {
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      give_up(handle_, sql);
  }
  sqlite3* get() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(database.get()) {
    if (sqlite3_prepare_v2(database_, sql, -1, &handle_, nullptr) != SQLITE_OK)
      give_up(database_, sql);
  }
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int index, std::int64_t value) { sqlite3_bind_int64(handle_, index, value); }
  void bind(int index, const std::string& text) {
    sqlite3_bind_text(handle_, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  // Runs to the end. False: a key exists already.
  bool execute() {
    const int code = sqlite3_step(handle_);
    sqlite3_reset(handle_);
    if (code != SQLITE_DONE && code != SQLITE_CONSTRAINT)
      give_up(database_, "a statement failed");
    return code == SQLITE_DONE;
  }
  bool next_row() {
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_DONE && code != SQLITE_ROW)
      give_up(database_, "a query failed");
    return code == SQLITE_ROW;
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  std::string text(int column) const {
    return {reinterpret_cast<const char*>(sqlite3_column_text(handle_, column)),
            static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* handle_ = nullptr;
};

struct Outcomes {
  std::uint64_t committed = 0, conflicts = 0, rolled_back = 0;
};

Outcomes fill(Database& database, std::uint64_t transactions, std::uint64_t inserts) {
  Statement insert(database, "INSERT INTO job(id, owner, score, title) VALUES(?, ?, ?, ?)");
  Statement update(database, "UPDATE job SET score = score + 1 WHERE owner = ?");
  Statement remove(database, "DELETE FROM job WHERE owner = ? AND score % 11 = 0");
  Outcomes outcomes;
  std::int64_t state = 7;
  for (std::uint64_t t = 0; t < transactions; ++t) {
    database.run("BEGIN IMMEDIATE");
    const auto first = static_cast<std::int64_t>(t * inserts) + 1;
    bool good = true;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(inserts); ++i) {
      state = state * 48271 % 2147483647;
      insert.bind(1, first + i);
      insert.bind(2, state % kOwners);
      insert.bind(3, state / kOwners % 10007);
      insert.bind(4, "job " + std::to_string(state % 9973) + " of " + std::to_string(t));
      good = insert.execute() && good;
    }
    if (t % 5 == 4) {
      insert.bind(1, first);
      good = insert.execute() && good;
    }
    if (!good || t % 7 == 6) {
      database.run("ROLLBACK");
      ++(good ? outcomes.rolled_back : outcomes.conflicts);
      continue;
    }
    database.run("COMMIT");
    ++outcomes.committed;
    const std::int64_t owner = static_cast<std::int64_t>(t) % kOwners;
    update.bind(1, owner);
    update.execute();
    remove.bind(1, (owner + 1) % kOwners);
    remove.execute();
  }
  return outcomes;
}

std::string groups(const Database& database) {
  Statement query(database,
                  "SELECT owner, COUNT(*), SUM(score), MIN(score), MAX(score) FROM job "
                  "GROUP BY owner ORDER BY owner");
  std::string out;
  while (query.next_row()) {
    for (int column = 0; column < 5; ++column)
      out += (column > 0 ? " " : "group ") + std::to_string(query.integer(column));
    out += '\n';
  }
  return out;
}

std::string rows(const Database& database) {
  Statement query(database, "SELECT id, owner, score, title FROM job ORDER BY score DESC, id");
  std::string out;
  std::uint64_t digest = 0;
  int count = 0;
  for (; query.next_row(); ++count) {
    const std::string row = std::to_string(query.integer(0)) + ' ' +
                            std::to_string(query.integer(1)) + ' ' +
                            std::to_string(query.integer(2)) + ' ' + query.text(3);
    for (const char c : row)
      digest = (33 * digest + static_cast<unsigned char>(c)) % kModulus;
    if (count < kShownRows)
      out += "row " + row + '\n';
  }
  return out + "TOTAL " + std::to_string(count) + ' ' + std::to_string(digest) + '\n';
}

std::string work(const std::string& path, std::uint64_t transactions, std::uint64_t inserts) {
  for (const char* suffix : {"", "-wal", "-shm"})
    std::remove((path + suffix).c_str());
  Database database(path);
  std::string out;
  for (const char* pragma : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                             "PRAGMA cache_size = -8000", "PRAGMA temp_store = MEMORY"})
    database.run(pragma);
  for (const char* name :
       {"journal_mode", "synchronous", "cache_size", "temp_store", "page_size"}) {
    Statement query(database, (std::string("PRAGMA ") + name).c_str());
    query.next_row();
    out += std::string(name) + ' ' + query.text(0) + '\n';
  }
  database.run(
      "CREATE TABLE job(id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, score INTEGER NOT NULL, "
      "title TEXT NOT NULL); CREATE INDEX by_owner ON job(owner, score)");
  const Outcomes outcomes = fill(database, transactions, inserts);
  out += "committed " + std::to_string(outcomes.committed) + " conflicts " +
         std::to_string(outcomes.conflicts) + " rolled_back " +
         std::to_string(outcomes.rolled_back) + '\n';
  return out + groups(database) + rows(database);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  const std::string path = std::string(argv[1]) + "/job.sqlite";
  const std::uint64_t transactions = bench::size(kDefaultTransactions, kMostTransactions);
  const std::uint64_t inserts = bench::steps(kDefaultInserts, kMostInserts);
  const std::string out = bench::repeat([&] { return work(path, transactions, inserts); });
  std::fwrite(out.data(), 1, out.size(), stdout);
}
