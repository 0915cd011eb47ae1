#include "assay/base/text.h"
#include "assay/verdict/inputs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace assay::verdict {
namespace {

struct Row {
  std::int64_t line = 1;  // where it starts
  std::vector<std::string> cells;
};

// RFC 4180: quoted cells may hold commas, doubled quotes and line ends. Rows end with LF or CRLF.
class CsvReader {
 public:
  explicit CsvReader(const InputText& file) : where_(file.where), text_(file.text) {
    constexpr std::string_view kBom = "\xef\xbb\xbf";
    if (text_.substr(0, kBom.size()) == kBom)
      text_.remove_prefix(kBom.size());
  }

  // nullopt at the end. Empty lines are skipped.
  Result<std::optional<Row>> next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
      line_ += text_[at_++] == '\n' ? 1 : 0;
    if (at_ >= text_.size())
      return std::nullopt;
    Row row;
    row.line = line_;
    for (;;) {
      ASSAY_TRY(std::string cell, read_cell());
      row.cells.push_back(std::move(cell));
      if (at_ >= text_.size())
        return row;
      const char c = text_[at_++];
      if (c == ',')
        continue;
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n')
        ++at_;
      ++line_;
      return row;
    }
  }

 private:
  Result<std::string> read_cell() {
    if (at_ < text_.size() && text_[at_] == '"')
      return read_quoted();
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    const auto first = cell.find_first_not_of(" \t");
    const auto last = cell.find_last_not_of(" \t");
    return first == std::string::npos ? "" : cell.substr(first, last - first + 1);
  }

  Result<std::string> read_quoted() {
    const std::int64_t start = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')
          break;
        ++at_;
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      cell += text_[at_];
    }
    if (at_ >= text_.size())
      return fail(ErrorCode::invalid_format, "a quoted cell has no closing quote",
                  where_ + ":" + std::to_string(start));
    ++at_;
    if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
      return fail(ErrorCode::invalid_format, "text after a closing quote",
                  where_ + ":" + std::to_string(line_));
    return cell;
  }

  std::string where_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

struct Columns {
  std::vector<std::string> header;
  std::size_t reference = 0, candidate = 0;
  std::optional<std::size_t> batch, pair;
};

std::string header_list(const std::vector<std::string>& header) {
  std::string out;
  for (const std::string& name : header)
    out += (out.empty() ? "" : ", ") + printable(name, 40);
  return out;
}

Result<std::optional<std::size_t>> find_column(const Row& header, const std::string& name,
                                               const std::string& flag, const InputText& file) {
  const auto it = std::find(header.cells.begin(), header.cells.end(), name);
  if (it == header.cells.end()) {
    if (flag.empty())
      return std::nullopt;
    return fail(ErrorCode::invalid_format,
                "no column '" + printable(name, 60) + "' (columns: " + header_list(header.cells) +
                    "); name another one with " + flag,
                file.where + ":" + std::to_string(header.line));
  }
  if (std::find(it + 1, header.cells.end(), name) != header.cells.end())
    return fail(ErrorCode::invalid_format, "column '" + printable(name, 60) + "' occurs twice",
                file.where + ":" + std::to_string(header.line));
  return static_cast<std::size_t>(it - header.cells.begin());
}

Result<Columns> find_columns(const Row& header, const InputOptions& options,
                             const InputText& file) {
  const auto named = [](const std::string& name, const char* otherwise) {
    return name.empty() ? std::string(otherwise) : name;
  };
  Columns c;
  c.header = header.cells;
  ASSAY_TRY(const auto reference,
            find_column(header, named(options.reference, "reference_ns"), "--reference", file));
  ASSAY_TRY(const auto candidate,
            find_column(header, named(options.candidate, "candidate_ns"), "--candidate", file));
  if (reference == candidate)
    return fail(ErrorCode::invalid_format,
                "reference and candidate are the same column '" + c.header[*reference] + "'",
                file.where);
  c.reference = *reference;
  c.candidate = *candidate;
  ASSAY_TRY(c.batch, find_column(header, named(options.batch, "batch"),
                                 options.batch.empty() ? "" : "--batch", file));
  ASSAY_TRY(c.pair, find_column(header, named(options.pair, "pair"),
                                options.pair.empty() ? "" : "--pair", file));
  return c;
}

// One row's numbers, with line and column in every error.
class RowReader {
 public:
  RowReader(const Row& row, const Columns& columns, const InputText& file)
      : row_(row), columns_(columns), file_(file) {}

  Result<double> time(std::size_t column) const {
    const auto value = parse_number(row_.cells[column], 0, std::numeric_limits<double>::max(),
                                    columns_.header[column]);
    if (!value || *value <= 0)
      return tl::unexpected(error(column, "expected a time > 0"));
    if (!in_time_range(*value))
      return tl::unexpected(error(column, kTimeRange));
    return *value;
  }
  Result<std::int64_t> id(std::size_t column) const {
    constexpr std::int64_t kLimit = std::numeric_limits<int>::max();
    const auto value = parse_integer(row_.cells[column], -kLimit, kLimit, columns_.header[column]);
    if (!value)
      return tl::unexpected(error(column, "expected an integer"));
    return *value;
  }
  Error error(std::size_t column, const std::string& expected) const {
    return {ErrorCode::invalid_format,
            "column '" + printable(columns_.header[column], 60) + "': " + expected + ", found '" +
                printable(row_.cells[column], 40) + "'",
            file_.where + ":" + std::to_string(row_.line)};
  }

 private:
  const Row& row_;
  const Columns& columns_;
  const InputText& file_;
};

Error wrong_length(const Row& row, const Columns& columns, const InputText& file) {
  return {ErrorCode::invalid_format,
          "the row has " + std::to_string(row.cells.size()) + " cells, the header " +
              std::to_string(columns.header.size()),
          file.where + ":" + std::to_string(row.line)};
}

struct PairRow {
  std::int64_t batch = 0, pair = 0;
  double reference = 0, candidate = 0;
  std::int64_t line = 0;
};

Result<PairRow> read_row(const Row& row, const Columns& columns, const InputText& file,
                         std::int64_t index) {
  if (row.cells.size() != columns.header.size())
    return tl::unexpected(wrong_length(row, columns, file));
  const RowReader reader(row, columns, file);
  PairRow out;
  out.pair = index;
  out.line = row.line;
  ASSAY_TRY(out.reference, reader.time(columns.reference));
  ASSAY_TRY(out.candidate, reader.time(columns.candidate));
  if (columns.batch) {
    ASSAY_TRY(out.batch, reader.id(*columns.batch));
  }
  if (columns.pair) {
    ASSAY_TRY(out.pair, reader.id(*columns.pair));
  }
  return out;
}

// The first line that repeats a pair of an earlier one. `rows` are in order of batch, pair and
// line.
Result<void> check_unique(const std::vector<PairRow>& rows, const Columns& columns,
                          const InputText& file) {
  const PairRow* repeated = nullptr;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (rows[i].batch == rows[i - 1].batch && rows[i].pair == rows[i - 1].pair &&
        (repeated == nullptr || rows[i].line < repeated->line))
      repeated = &rows[i];
  if (repeated == nullptr)
    return {};
  const std::string batch = columns.batch ? "batch " + std::to_string(repeated->batch) + ", " : "";
  return fail(ErrorCode::invalid_format,
              batch + "pair " + std::to_string(repeated->pair) + " occurs twice",
              file.where + ":" + std::to_string(repeated->line));
}

Result<std::vector<PairRow>> read_rows(CsvReader& csv, const Columns& columns,
                                       const InputText& file) {
  std::vector<PairRow> rows;
  for (;;) {
    ASSAY_TRY(const std::optional<Row> row, csv.next());
    if (!row)
      break;
    ASSAY_TRY(const PairRow pair,
              read_row(*row, columns, file, static_cast<std::int64_t>(rows.size())));
    rows.push_back(pair);
  }
  if (rows.empty())
    return fail(ErrorCode::invalid_format, "no rows after the header", file.where);
  std::sort(rows.begin(), rows.end(), [](const PairRow& a, const PairRow& b) {
    return std::tuple(a.batch, a.pair, a.line) < std::tuple(b.batch, b.pair, b.line);
  });
  ASSAY_TRY_VOID(check_unique(rows, columns, file));
  return rows;
}

// "ns" of a column old_ns; "" where the name does not end in a unit.
std::string unit_of(std::string_view name) {
  for (const std::string_view suffix : {"_ns", "_us", "_ms", "_s", "_bytes"})
    if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
      return std::string(suffix.substr(1));
  return "";
}

// The unit of both columns; "" where one of them does not name its own.
Result<std::string> common_unit(const Columns& columns, const InputText& file,
                                std::int64_t header_line) {
  const std::string& reference = columns.header[columns.reference];
  const std::string& candidate = columns.header[columns.candidate];
  const std::string a = unit_of(reference), b = unit_of(candidate);
  if (!a.empty() && !b.empty() && a != b)
    return fail(ErrorCode::invalid_format,
                "the reference '" + printable(reference, 60) + "' is in " + a +
                    ", the candidate '" + printable(candidate, 60) + "' in " + b +
                    ": bring both to one unit",
                file.where + ":" + std::to_string(header_line));
  return a == b ? a : "";
}

// The columns of `compare --export-csv` that matter here.
constexpr const char* kRunColumns[] = {"batch",    "pair",  "case",   "side",
                                       "position", "phase", "status", "elapsed_ns"};
enum RunColumn { kBatch, kPair, kCase, kSide, kPosition, kPhase, kStatus, kElapsed };

Result<CampaignRun> read_run(const Row& row, const Columns& columns,
                             const std::vector<std::size_t>& at, const InputText& file) {
  const RowReader reader(row, columns, file);
  CampaignRun run;
  run.where = file.where + ":" + std::to_string(row.line);
  run.case_name = row.cells[at[kCase]];
  ASSAY_TRY(run.batch, reader.id(at[kBatch]));
  ASSAY_TRY(run.pair, reader.id(at[kPair]));
  ASSAY_TRY(run.position, reader.id(at[kPosition]));
  const std::string& side = row.cells[at[kSide]];
  if (side != "reference" && side != "candidate")
    return tl::unexpected(reader.error(at[kSide], "expected reference or candidate"));
  run.side = side == "candidate" ? Side::candidate : Side::reference;
  run.usable = row.cells[at[kStatus]] == "ok";
  if (run.usable) {
    ASSAY_TRY(run.elapsed_ns, reader.time(at[kElapsed]));
  }
  return run;
}

}  // namespace

bool is_samples_csv(const InputText& file) {
  CsvReader csv(file);
  const auto header = csv.next();
  if (!header || !*header)
    return false;
  const std::vector<std::string>& cells = (*header)->cells;
  return std::all_of(std::begin(kRunColumns), std::end(kRunColumns), [&](const char* name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  });
}

Result<std::vector<CampaignRun>> parse_samples_csv(const InputText& file) {
  CsvReader csv(file);
  ASSAY_TRY(const std::optional<Row> header, csv.next());
  if (!header)
    return fail(ErrorCode::invalid_format, "the file is empty; expected a header row", file.where);
  Columns columns;
  columns.header = header->cells;
  std::vector<std::size_t> at;
  for (const char* name : kRunColumns) {
    ASSAY_TRY(const auto place, find_column(*header, name, name, file));
    at.push_back(*place);
  }
  std::vector<CampaignRun> runs;
  for (;;) {
    ASSAY_TRY(const std::optional<Row> row, csv.next());
    if (!row)
      break;
    if (row->cells.size() != columns.header.size())
      return tl::unexpected(wrong_length(*row, columns, file));
    if (row->cells[at[kPhase]] == "warmup")
      continue;
    ASSAY_TRY(CampaignRun run, read_run(*row, columns, at, file));
    runs.push_back(std::move(run));
  }
  if (runs.empty())
    return fail(ErrorCode::invalid_format, "no measured run after the header", file.where);
  return runs;
}

Result<AnalyzeData> parse_pairs_csv(const InputText& file, const InputOptions& options) {
  CsvReader csv(file);
  ASSAY_TRY(const std::optional<Row> header, csv.next());
  if (!header)
    return fail(ErrorCode::invalid_format, "the file is empty; expected a header row", file.where);
  ASSAY_TRY(const Columns columns, find_columns(*header, options, file));
  ASSAY_TRY(const std::vector<PairRow> rows, read_rows(csv, columns, file));
  AnalyzeData data;
  data.source = "pairs_csv";
  data.name = sanitize_utf8(columns.header[columns.candidate]) + " / " +
              sanitize_utf8(columns.header[columns.reference]);
  ASSAY_TRY(data.unit, common_unit(columns, file, header->line));
  data.paired = true;
  data.batched = columns.batch.has_value();
  for (const PairRow& row : rows) {
    data.reference.push_back(row.reference);
    data.candidate.push_back(row.candidate);
    if (data.batched)
      data.batch.push_back(static_cast<int>(row.batch));
  }
  return data;
}

}  // namespace assay::verdict
