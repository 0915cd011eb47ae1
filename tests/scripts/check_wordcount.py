#!/usr/bin/env python3
"""The tour's word count, its text generator and its oracle."""
import collections
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, expect_equal, real_data, run, run_checks
from native_programs import SUITE, compiled, rust, sha256

SOURCES = SUITE / "wordcount"
GENERATE = [sys.executable, "-B", SOURCES / "generate.py"]
# Of the text that generate.py makes from vocabulary.txt, and of its word count.
TEXT_SHA256 = "74a0c20718aeeb2cf8c738725fb06a21726296dfa358953a5160a6790f2bc7f0"
COUNT_SHA256 = "60888c6798204a1aac1f89bed0286cf4b04bf314b7b71a7bc29d9d079b7b7301"
# Of the same with the vocabulary of the public project that defined the workload.
REAL_TEXT_SHA256 = "0cb152dd26d2767a56605d84a3db041211e26524159398b809e39c83791f7d7b"
REAL_COUNT_SHA256 = "1f6cb6231e2aa1860ebd6470dd2061dfc8e786c2434fb1361b1a44c2225786a3"


def generated(vocabulary, scratch):
    text = scratch / "text"
    made = run([*GENERATE, vocabulary, text])
    expect_equal((made.returncode, made.stderr), (0, ""), "generate.py")
    return text


def counted_in_python(data):
    """The word count by means that share nothing with the program."""
    words = [w for w in re.split(rb"[ \t\n\v\f\r]+", data) if w]
    counts = collections.Counter(words)
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]
    rows = [word + b" %d\n" % count for word, count in top]
    return b"".join(rows).decode() + f"TOTAL {len(words)} {len(counts)}\n"


@check
def the_generated_text_and_its_count_have_the_pinned_digests(_options, scratch):
    text = generated(SOURCES / "vocabulary.txt", scratch)
    expect_equal(sha256(text.read_bytes()), TEXT_SHA256, "text")
    program = compiled("wordcount", scratch)
    expect_equal(sha256(run([program, text]).stdout), COUNT_SHA256, "once")
    repeated = {**os.environ, "ASSAY_BENCH_ITERATIONS": "3"}
    expect_equal(sha256(run([program, text], env=repeated).stdout), COUNT_SHA256, "3 times")


@check
def the_program_the_shell_oracle_and_python_agree(_options, scratch):
    text = generated(SOURCES / "vocabulary.txt", scratch)
    wanted = counted_in_python(text.read_bytes())
    expect_equal(run([SOURCES / "oracle.sh", text]).stdout, wanted, "oracle.sh")
    for program in (compiled("wordcount", scratch), compiled("wordcount", scratch, "clang++"),
                    rust("wordcount", scratch)):
        expect_equal(run([program, text]).stdout, wanted, str(program))


@check
def odd_texts_are_counted_alike(_options, scratch):
    program = compiled("wordcount", scratch, flags=["-fsanitize=address,undefined"])
    other = rust("wordcount", scratch)
    for data in (b"", b"\n", b"one", b"  b a\tb\r\nA\va\f", b"x" * 70000 + b" y",
                 b" ".join(b"%d" % (i % 37) for i in range(500)), "z\u00fcge \u00fc\n".encode()):
        text = scratch / "odd"
        text.write_bytes(data)
        wanted = counted_in_python(data)
        expect_equal(run([program, text]).stdout, wanted, f"program on {data[:40]!r}")
        expect_equal(run([other, text]).stdout, wanted, f"Rust program on {data[:40]!r}")
        expect_equal(run([SOURCES / "oracle.sh", text]).stdout, wanted, f"oracle on {data[:40]!r}")


@check
def the_original_vocabulary_gives_the_published_digests(_options, scratch):
    text = generated(real_data("turbo", "wordcount_vocab.txt"), scratch)
    expect_equal(sha256(text.read_bytes()), REAL_TEXT_SHA256, "text")
    output = run([compiled("wordcount", scratch), text]).stdout
    expect_equal(sha256(output), REAL_COUNT_SHA256, "count")
    expect_equal(output, real_data("turbo", "wordcount_expected.txt").read_text(), "count")


@check
def bad_invocations_exit_2_and_say_what_is_wrong(_options, scratch):
    count = compiled("wordcount", scratch)
    empty = scratch / "empty"
    empty.write_text(" \n")
    for command, word in (([count], "usage"), ([count, scratch / "no"], "could not be read"),
                          ([count, empty, "1"], "usage"),
                          ([count, scratch], "could not be read"),
                          ([*GENERATE, empty, scratch / "t"], "no words"),
                          ([*GENERATE, SOURCES / "vocabulary.txt", scratch / "no" / "t"],
                           "could not be written"),
                          ([*GENERATE, SOURCES / "vocabulary.txt", scratch / "t", "-1"],
                           "usage")):
        done = run(command)
        expect_equal(done.returncode, 2, f"exit code of {command}")
        expect(word in done.stderr, f"{command}: {done.stderr!r} lacks {word!r}")


run_checks()
