// The manifest: what a good one says, and how every kind of bad one is refused.
#include "assay/suite/manifest.h"

#include "assay/base/json.h"
#include "assay/base/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace assay::suite {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kSourceA[] = "int main() {}\n";
constexpr char kSourceB[] = "fn main() {}\n";

Json good() {
  Json json = Json::parse(R"({
    "schema": "assay.suite/1", "suite": "tiny", "suite_version": "1", "seed": 7,
    "toolchains": {
      "c++": {"language": "C++", "version": ["g++", "--version"],
              "build": [["g++", "{flags}", "{source}", "-o", "{program}"]],
              "run": ["{program}", "{arguments}"], "packages": ["g++"]},
      "rust": {"language": "Rust", "version": ["rustc", "--version"],
               "build": [["cargo", "build", "--target-dir={build}"]],
               "run": ["{program}", "{arguments}"], "artifact": "cargo",
               "environment": {"RUSTFLAGS": ""}, "instrumented_marker": "+profile"}
    },
    "protocols": {"full": {"batches": 20, "pairs": 6, "warmups": 1},
                  "test": {"batches": 1, "pairs": 2, "warmups": 0}},
    "gates": {"idiomatic": {"cpu_mean": 1.15, "cpu_case": 1.35}},
    "qualification": {"requires": ["cross_host"], "run_ms": 200},
    "cases": {
      "one": {"category": "cpu", "status": "runnable", "controlled_status": "pending_capability",
              "workload": "nothing", "require_zero_live": true,
              "candidate": {"toolchain": "c++", "source": "one/a.cpp", "flags": ["-O2"]},
              "reference": {"toolchain": "rust", "source": "one/b.rs"},
              "source_sha256": {},
              "oracle": {"text": "1\n"}, "arguments": ["{input}"],
              "input": {"generator": ["python3", "{case}/generate.py", "{input}"]},
              "bounds": {"ASSAY_BENCH_SIZE": [1, 50]},
              "presets": {"full": {"ASSAY_BENCH_SIZE": "40"}, "test": {"ASSAY_BENCH_SIZE": "5"}}},
      "two": {"category": "service", "status": "pending_fixture",
              "controlled_status": "pending_capability", "workload": "something",
              "prerequisite": "a server", "qualification_blockers": ["not written"]}
    }})");
  Json& digests = json["cases"]["one"]["source_sha256"];
  digests["one/a.cpp"] = sha256_hex(kSourceA);
  digests["one/b.rs"] = sha256_hex(kSourceB);
  return json;
}

std::string fault_of(const std::string& text) {
  const auto manifest = parse_manifest(text, "suite.json");
  return manifest ? "accepted" : manifest.error().message();
}

TEST(Manifest, says_what_it_says) {
  const auto manifest = parse_manifest(good().dump(), "suite.json");
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ(manifest->suite, "tiny");
  EXPECT_EQ(manifest->seed, 7);
  EXPECT_EQ(manifest->draws, 2000);
  EXPECT_EQ(manifest->timeout_ns, INT64_C(30000000000));
  EXPECT_EQ(manifest->sha256, sha256_hex(good().dump()));
  EXPECT_EQ(manifest->protocols.at("full").batches, 20);
  EXPECT_EQ(manifest->gates.at("idiomatic").cpu_case, 1.35);
  EXPECT_FALSE(manifest->gates.at("idiomatic").live_allocation);
  EXPECT_EQ(manifest->qualification.run_ns, 200000000);
  EXPECT_EQ(manifest->toolchains.at("rust").artifact, Artifact::cargo);
  EXPECT_EQ(manifest->toolchains.at("rust").environment.at("RUSTFLAGS"), "");
  ASSERT_EQ(manifest->cases.size(), 2U);
  const Case& one = manifest->cases[0];
  EXPECT_TRUE(one.require_zero_live);
  EXPECT_EQ(one.candidate.flags, std::vector<std::string>{"-O2"});
  EXPECT_EQ(one.oracle.text, "1\n");
  EXPECT_EQ(one.presets.at("test").at("ASSAY_BENCH_SIZE"), "5");
  const Case& two = manifest->cases[1];
  EXPECT_EQ(two.status, CaseStatus::pending_fixture);
  EXPECT_EQ(two.prerequisite, "a server");
  EXPECT_EQ(two.qualification_blockers, std::vector<std::string>{"not written"});
}

struct Mutation {
  const char* name;
  const char* patch;  // RFC 6902
  const char* fault;
};

class BadManifest : public ::testing::TestWithParam<Mutation> {};

TEST_P(BadManifest, is_refused_by_pointer_and_reason) {
  const Json bad = good().patch(Json::parse(GetParam().patch));
  const std::string fault = fault_of(bad.dump());
  EXPECT_THAT(fault, HasSubstr("suite.json: "));
  EXPECT_THAT(fault, HasSubstr(GetParam().fault));
}

const Mutation kMutations[] = {
    {"schema", R"([{"op":"replace","path":"/schema","value":"assay.suite/2"}])",
     R"(/schema: expected "assay.suite/1")"},
    {"unknown_key", R"([{"op":"add","path":"/extra","value":1}])", "/extra: expected no such key"},
    {"unknown_case_key", R"([{"op":"add","path":"/cases/one/size","value":1}])",
     "/cases/one/size: expected no such key"},
    {"runnable_key_of_a_pending_case",
     R"([{"op":"add","path":"/cases/two/oracle","value":{"text":""}}])",
     "/cases/two/oracle: expected no such key"},
    {"missing_seed", R"([{"op":"remove","path":"/seed"}])", "/seed: expected"},
    {"seed_beyond_a_double", R"([{"op":"replace","path":"/seed","value":9007199254740992}])",
     "/seed: expected an integer from 0 to 9007199254740991"},
    {"seed_as_text", R"([{"op":"replace","path":"/seed","value":"7"}])", "/seed: expected"},
    {"no_cases", R"([{"op":"replace","path":"/cases","value":{}}])",
     "/cases: expected at least one case"},
    {"cases_as_list", R"([{"op":"replace","path":"/cases","value":[]}])",
     "/cases: expected an object"},
    {"case_name", R"([{"op":"add","path":"/cases/Big","value":{}}])", "/cases/Big: a name is"},
    {"category", R"([{"op":"replace","path":"/cases/one/category","value":"gpu"}])",
     "/cases/one/category: expected one of cpu, application, service"},
    {"status", R"([{"op":"replace","path":"/cases/one/status","value":"done"}])",
     "/cases/one/status: expected one of runnable, pending_fixture"},
    {"controlled_status",
     R"([{"op":"replace","path":"/cases/one/controlled_status","value":"pending_fixture"}])",
     "/cases/one/controlled_status: expected one of"},
    {"blank_blocker",
     R"([{"op":"replace","path":"/cases/two/qualification_blockers","value":["a"," "]}])",
     "/cases/two/qualification_blockers/1: expected a text that is not blank"},
    {"blockers_as_text",
     R"([{"op":"replace","path":"/cases/two/qualification_blockers","value":"a"}])",
     "/cases/two/qualification_blockers: expected an array"},
    {"contract_as_number", R"([{"op":"replace","path":"/cases/one/require_zero_live","value":1}])",
     "/cases/one/require_zero_live: expected true or false, got 1"},
    {"contract_as_text",
     R"([{"op":"replace","path":"/cases/one/require_zero_live","value":"true"}])",
     "/cases/one/require_zero_live: expected true or false"},
    {"unknown_toolchain",
     R"([{"op":"replace","path":"/cases/one/candidate/toolchain","value":"tcc"}])",
     "/cases/one/candidate/toolchain: no such toolchain: tcc"},
    {"source_without_fingerprint",
     R"([{"op":"replace","path":"/cases/one/candidate/source","value":"one/c.cpp"}])",
     "/cases/one/candidate/source: one/c.cpp has no fingerprint in source_sha256"},
    {"absolute_path",
     R"([{"op":"add","path":"/cases/one/source_sha256/~1etc~1passwd","value":""}])",
     "/cases/one/source_sha256/~1etc~1passwd: a path is relative"},
    {"path_upwards", R"([{"op":"add","path":"/cases/one/source_sha256/a~1..~1..~1b","value":""}])",
     "/cases/one/source_sha256/a~1..~1..~1b: a path is relative"},
    {"upper_case_digest",
     R"([{"op":"replace","path":"/cases/one/source_sha256/one~1b.rs","value":"ABCD"}])",
     "/cases/one/source_sha256/one~1b.rs: expected 64 lower-case hexadecimal digits"},
    {"oracle_of_both_kinds",
     R"([{"op":"add","path":"/cases/one/oracle/command","value":["true"]}])",
     "/cases/one/oracle: expected either text or command"},
    {"oracle_of_no_kind", R"([{"op":"replace","path":"/cases/one/oracle","value":{}}])",
     "/cases/one/oracle: expected either text or command"},
    {"input_without_fingerprint",
     R"([{"op":"replace","path":"/cases/one/input","value":{"file":"one/in.txt"}}])",
     "/cases/one/input/file: one/in.txt has no fingerprint in source_sha256"},
    {"placeholder", R"([{"op":"replace","path":"/cases/one/arguments","value":["{home}"]}])",
     "/cases/one/arguments: no such placeholder in {home}"},
    {"list_placeholder_in_a_word",
     R"([{"op":"replace","path":"/toolchains/c++/run","value":["x{flags}"]}])",
     "/toolchains/c++/run: no such placeholder in x{flags}"},
    {"stray_brace", R"([{"op":"replace","path":"/toolchains/c++/run","value":["a}"]}])",
     "/toolchains/c++/run: no such placeholder"},
    {"empty_command", R"([{"op":"replace","path":"/toolchains/c++/version","value":[]}])",
     "/toolchains/c++/version: expected a command"},
    {"build_of_words", R"([{"op":"replace","path":"/toolchains/c++/build","value":["g++"]}])",
     "/toolchains/c++/build/0: expected an array"},
    {"artifact", R"([{"op":"replace","path":"/toolchains/rust/artifact","value":"make"}])",
     "/toolchains/rust/artifact: expected one of program, cargo"},
    {"environment_number",
     R"([{"op":"replace","path":"/toolchains/rust/environment/RUSTFLAGS","value":1}])",
     "/toolchains/rust/environment/RUSTFLAGS: expected a text"},
    {"unknown_parameter", R"([{"op":"add","path":"/cases/one/bounds/HOME","value":[1,2]}])",
     "/cases/one/bounds/HOME: expected no such key"},
    {"bounds_of_zero",
     R"([{"op":"replace","path":"/cases/one/bounds/ASSAY_BENCH_SIZE","value":[0,2]}])",
     "/cases/one/bounds/ASSAY_BENCH_SIZE: expected [least, most], both from 1"},
    {"bounds_reversed",
     R"([{"op":"replace","path":"/cases/one/bounds/ASSAY_BENCH_SIZE","value":[3,2]}])",
     "/cases/one/bounds/ASSAY_BENCH_SIZE: expected [least, most], both from 1"},
    {"unbounded_parameter",
     R"([{"op":"add","path":"/cases/one/presets/full/ASSAY_BENCH_STEPS","value":"1"}])",
     "/cases/one/presets/full/ASSAY_BENCH_STEPS: expected no such key"},
    {"missing_parameter", R"([{"op":"remove","path":"/cases/one/presets/full/ASSAY_BENCH_SIZE"}])",
     "/cases/one/presets/full/ASSAY_BENCH_SIZE: expected"},
    {"missing_preset_of_a_case", R"([{"op":"remove","path":"/cases/one/presets/test"}])",
     R"(/cases/one/presets: the preset "test" is missing)"},
    {"preset_without_protocol",
     R"([{"op":"add","path":"/cases/one/presets/quick","value":{"ASSAY_BENCH_SIZE":"1"}}])",
     "/cases/one/presets/quick: /protocols has no such preset"},
    {"no_full_protocol", R"([{"op":"remove","path":"/protocols/full"}])",
     R"(/protocols: the preset "full" is missing)"},
    {"unknown_preset",
     R"([{"op":"add","path":"/protocols/huge","value":{"batches":1,"pairs":1,"warmups":0}}])",
     "/protocols/huge: no such preset: anchor, full, quick, test"},
    {"no_pairs", R"([{"op":"replace","path":"/protocols/full/pairs","value":0}])",
     "/protocols/full/pairs: expected an integer from 1"},
    {"gate_column", R"([{"op":"add","path":"/gates/strict","value":{}}])",
     "/gates/strict: a column is idiomatic or controlled"},
    {"cap_of_zero", R"([{"op":"replace","path":"/gates/idiomatic/cpu_mean","value":0}])",
     "/gates/idiomatic/cpu_mean: expected a ratio above 0"},
    {"requirement", R"([{"op":"replace","path":"/qualification/requires","value":["luck"]}])",
     "/qualification/requires: no such requirement: luck"},
};
INSTANTIATE_TEST_SUITE_P(Mutations, BadManifest, ::testing::ValuesIn(kMutations),
                         [](const auto& item) { return std::string(item.param.name); });

TEST(BadParameterValue, anything_but_digits_within_bounds_is_refused) {
  for (const Json& value : {Json("0"), Json("-1"), Json("51"), Json(""), Json(" 5"), Json("5 "),
                            Json("+5"), Json("5.0"), Json("0x5"), Json("99999999999999999999"),
                            Json("\u0665"), Json(5), Json(nullptr), Json(true)}) {
    Json bad = good();
    bad["cases"]["one"]["presets"]["full"]["ASSAY_BENCH_SIZE"] = value;
    EXPECT_THAT(fault_of(bad.dump()), HasSubstr("/cases/one/presets/full/ASSAY_BENCH_SIZE: "))
        << value;
  }
}

TEST(BadManifestText, duplicate_keys_and_broken_json_name_the_file) {
  EXPECT_THAT(fault_of(R"({"schema": "assay.suite/1", "schema": "assay.suite/1"})"),
              HasSubstr("suite.json"));
  EXPECT_THAT(fault_of("{"), HasSubstr("suite.json"));
  EXPECT_THAT(fault_of("[]"), HasSubstr("suite.json: the document: expected an object"));
}

// ---- files
// ---------------------------------------------------------------------------------------

TEST(NativeSuite, holds_eleven_cases_whose_files_are_as_they_were_pinned) {
  const auto manifest = load_manifest(ASSAY_SOURCE_DIR "/suites/native/cases.json");
  ASSERT_TRUE(manifest) << manifest.error().message();
  std::vector<std::string> names;
  for (const Case& one : manifest->cases)
    names.push_back(one.name);
  EXPECT_THAT(names, ::testing::ElementsAre("buffer_scan", "fib", "hashmap_churn", "http_compute",
                                            "json_transform", "particle_update", "sqlite",
                                            "string_tokens", "tree_walk", "wordcount", "worker"));
  EXPECT_EQ(manifest->gates.at("controlled").cpu_mean, 1.05);
}

class ManifestFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "assay-suite-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "suite" / "one");
    write("suite/one/a.cpp", kSourceA);
    write("suite/one/b.rs", kSourceB);
    write("suite/suite.json", good().dump());
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  std::string fault() const {
    const auto manifest = load_manifest(root_ / "suite" / "suite.json");
    return manifest ? "accepted" : manifest.error().message();
  }

  fs::path root_;
};

TEST_F(ManifestFiles, that_match_are_accepted_from_any_directory) {
  EXPECT_EQ(fault(), "accepted");
  const auto manifest = load_manifest(root_ / "suite" / ".." / "suite" / "suite.json");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->directory, fs::canonical(root_ / "suite"));
}

TEST_F(ManifestFiles, that_changed_are_named_with_both_digests) {
  write("suite/one/b.rs", "fn main() { }\n");
  EXPECT_THAT(fault(), HasSubstr("one/b.rs: /cases/one/source_sha256/one~1b.rs: the file has "));
  EXPECT_THAT(fault(), HasSubstr("not " + sha256_hex(kSourceB)));
}

TEST_F(ManifestFiles, that_change_after_loading_are_found_before_the_build) {
  const auto manifest = load_manifest(root_ / "suite" / "suite.json");
  ASSERT_TRUE(manifest);
  EXPECT_TRUE(check_fingerprints(*manifest, manifest->cases[0]));
  write("suite/one/a.cpp", "int main() { return 1; }\n");
  EXPECT_FALSE(check_fingerprints(*manifest, manifest->cases[0]));
}

TEST_F(ManifestFiles, that_are_missing_are_named) {
  fs::remove(root_ / "suite/one/a.cpp");
  EXPECT_THAT(fault(), HasSubstr("one/a.cpp"));
  EXPECT_THAT(fault(), HasSubstr("No such file or directory"));
}

TEST_F(ManifestFiles, behind_a_symbolic_link_that_leads_out_are_refused) {
  write("outside.cpp", kSourceA);
  fs::remove(root_ / "suite/one/a.cpp");
  fs::create_symlink("../../outside.cpp", root_ / "suite/one/a.cpp");
  EXPECT_THAT(fault(), HasSubstr("a symbolic link leads out of the folder"));
  // A neighbour whose name starts alike is outside as well.
  fs::create_directory(root_ / "suite2");
  write("suite2/a.cpp", kSourceA);
  fs::remove(root_ / "suite/one/a.cpp");
  fs::create_symlink("../../suite2/a.cpp", root_ / "suite/one/a.cpp");
  EXPECT_THAT(fault(), HasSubstr("a symbolic link leads out of the folder"));
  // One that stays inside is fine.
  write("suite/one/real.cpp", kSourceA);
  fs::remove(root_ / "suite/one/a.cpp");
  fs::create_symlink("real.cpp", root_ / "suite/one/a.cpp");
  EXPECT_EQ(fault(), "accepted");
}

TEST_F(ManifestFiles, a_missing_manifest_is_named) {
  fs::remove(root_ / "suite/suite.json");
  EXPECT_THAT(fault(), HasSubstr("suite.json"));
}

}  // namespace
}  // namespace assay::suite
