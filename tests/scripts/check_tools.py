#!/usr/bin/env python3
"""The developer scripts themselves: each must be able to fail."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import ROOT, check, expect, expect_equal, run, run_checks

TOOLS = ROOT / "tools"


def tree_with(scratch, files):
    for name, text in files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return scratch


def run_tool(tool, root):
    return run([sys.executable, TOOLS / tool, root])


@check
def the_include_check_accepts_arrows_that_point_downwards(_options, scratch):
    tree = tree_with(scratch, {
        "src/compare/a.cpp": '#include "assay/verdict/plan.h"\n#include "b.h"\n#include <vector>\n',
        "src/compare/b.h": '#include "assay/compare/compare.h"\n',
        "include/assay/compare/compare.h": '#include "assay/base/result.h"\n'})
    done = run_tool("check_includes.py", tree)
    expect_equal((done.returncode, done.stdout), (0, ""))


@check
def the_include_check_refuses_every_forbidden_arrow(_options, scratch):
    cases = {
        "src/stats/a.cpp": '#include "assay/verdict/plan.h"',
        "src/evidence/a.cpp": '#include "assay/process/run.h"',
        "src/process/a.cpp": '#include "assay/evidence/archive.h"',
        "src/report/a.cpp": '#include "assay/stats/math.h"',
        "src/verdict/a.cpp": '#include "assay/host/host.h"',
        "include/assay/base/a.h": '#include "assay/stats/math.h"',
        "src/compare/a.cpp": '#include "../process/protocol.h"',
        "src/compare/c.cpp": '#include "process/protocol.h"',
        "src/compare/d.cpp": '#include "src/process/protocol.h"',
        "src/host/a.cpp": "int pid = fork();",
        "src/verdict/b.cpp": "auto now = std::chrono::steady_clock::now();",
        "src/report/b.cpp": "#include <fstream>",
        "src/compare/b.cpp": "#include <nlohmann/json.hpp>",
        "src/surprise/a.cpp": "int x;"}
    done = run_tool("check_includes.py", tree_with(scratch, {k: v + "\n" for k, v in cases.items()}))
    expect_equal(done.returncode, 1, "exit code")
    for name in cases:
        expect(f"{name}:1:" in done.stdout, f"{name} was let through:\n{done.stdout}")
    expect_equal(len(done.stdout.splitlines()), len(cases), "lines")


@check
def the_hygiene_check_refuses_what_belongs_to_one_machine(_options, scratch):
    # Put together here, so that this file passes the check itself.
    lines = ["see /ho" + "me/jane/project", "cd /wo" + "rk/project", "https:" + "//pkgs.corp.lan/x",
             "// TO" + "DO later", "as seed" + " A says", "jane@" + "corp.com"]
    tree_with(scratch, {"good.md": "https://github.com/x, /usr/bin/env, ../shared/data, mailbox\n",
                        "bad.md": "\n".join(lines) + "\n"})
    done = run_tool("check_hygiene.py", scratch)
    expect_equal(done.returncode, 1, "exit code")
    for number, line in enumerate(lines, start=1):
        expect(f"bad.md:{number}:" in done.stdout, f"let through: {line}")
    expect("good.md" not in done.stdout, done.stdout)


def runner_with(scratch, stages):
    """A copy of the test runner with stages of its own."""
    tools = scratch / "tools"
    tools.mkdir()
    shutil.copy(TOOLS / "test_runner.py", tools)
    (tools / "test_stages.py").write_text(
        "import pathlib\nimport types\nfrom test_runner import ROOT, run_gtest, run_script\n"
        "def stage(name, function, needs=(), long=False):\n"
        "    return types.SimpleNamespace(name=name, title=name, function=function, needs=needs,\n"
        "                                 long=long)\n" + stages)
    return run([sys.executable, tools / "test_runner.py"])


def last_line(done):
    return done.stdout.splitlines()[-1]


@check
def a_run_without_any_test_fails(_options, scratch):
    done = runner_with(scratch, "STAGES = [stage('a', lambda results, options: None)]\n")
    expect_equal((done.returncode, last_line(done)), (1, "0 passed, 1 failed, 0 skipped"))


@check
def a_failed_build_fails_what_stands_on_it(_options, scratch):
    done = runner_with(scratch,
                       "STAGES = [stage('build', lambda r, o: r.fail('build', 'broken')),\n"
                       "          stage('unit', lambda r, o: r.ok(), needs=('build',)),\n"
                       "          stage('other', lambda r, o: r.ok(3))]\n")
    expect_equal((done.returncode, last_line(done)), (1, "3 passed, 2 failed, 0 skipped"))


@check
def a_script_is_counted_by_its_lines_and_its_exit_code(_options, scratch):
    tree_with(scratch, {
        "good.sh": "echo PASS one; echo 'SKIP two: no tool'; echo PASS three\n",
        "bad.sh": "echo PASS one; echo 'FAIL two: because'; echo detail; exit 1\n",
        "silent.sh": "echo working\n", "dies.sh": "echo PASS one; exit 3\n",
        "lies.sh": "echo 'FAIL one: x'; exit 0\n"})
    done = runner_with(scratch,
                       "def scripts(r, o):\n"
                       "    for name in ('good', 'bad', 'silent', 'dies', 'lies'):\n"
                       "        run_script(r, ROOT / f'{name}.sh')\n"
                       "STAGES = [stage('scripts', scripts)]\n")
    expect_equal((done.returncode, last_line(done)), (1, "5 passed, 4 failed, 1 skipped"))
    expect("because" in done.stdout and "detail" in done.stdout, "the failure's text is missing")
    expect("two: no tool" in done.stdout, "the skip's reason is missing")


@check
def gtest_programs_are_counted_test_by_test_even_when_they_die(_options, scratch):
    source = scratch / "t.cpp"
    source.write_text('#include <gtest/gtest.h>\n#include <cstdlib>\n'
                      'TEST(A, passes) {}\n'
                      'TEST(A, fails) { EXPECT_EQ(1, 2) << "why it failed"; }\n'
                      'TEST(A, skips) { GTEST_SKIP() << "no such tool"; }\n'
                      'TEST(A, DISABLED_waits) {}\n'
                      'TEST(Death, dies) { if (std::getenv("PATH")) std::abort(); }\n')
    built = run(["g++", source, "-o", scratch / "t", "-lgtest", "-lgtest_main", "-pthread"])
    expect_equal(built.returncode, 0, built.stderr)
    done = runner_with(scratch,
                       "def programs(r, o):\n"
                       "    run_gtest(r, ROOT / 't', ['--gtest_filter=A.*'])\n"
                       "    run_gtest(r, ROOT / 't', ['--gtest_filter=Death.*'])\n"
                       "    run_gtest(r, ROOT / 't', ['--gtest_filter=None.*'])\n"
                       "STAGES = [stage('programs', programs)]\n")
    expect_equal((done.returncode, last_line(done)), (1, "1 passed, 3 failed, 2 skipped"))
    for text in ("why it failed", "no such tool", "Death.dies", "ran no test at all"):
        expect(text in done.stdout, f"{text!r} is missing in:\n{done.stdout}")


@check
def the_real_data_group_may_not_be_skipped_where_the_data_are(_options, scratch):
    checkout = scratch / "checkout"
    checkout.mkdir()
    stages = ("STAGES = [stage('a', lambda r, o: (r.ok(), "
              "r.skip('real', 'ASSAY_REAL_DATA is not there')))]\n")
    done = runner_with(checkout, stages)
    expect_equal((done.returncode, last_line(done)), (0, "1 passed, 0 failed, 1 skipped"))
    (scratch / "shared" / "data").mkdir(parents=True)
    shutil.rmtree(checkout / "tools")
    done = runner_with(checkout, stages)
    expect_equal((done.returncode, last_line(done)), (1, "1 passed, 1 failed, 0 skipped"))


run_checks()
