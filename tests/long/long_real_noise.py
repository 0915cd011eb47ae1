#!/usr/bin/env python3
"""False alarms and power on this host's real noise, while a thread keeps another core busy.

A program of 5 ms against itself in interleaved pairs, the same in blocks order beside it, and
against itself with 3 % more work. Every figure is printed; the limits are those of the design.
"""
import contextlib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import check, expect, run, run_checks

# A campaign is 10 batches of 6 pairs and gives one verdict per metric.
BATCHES_PER_CAMPAIGN = 10
CAMPAIGNS = 1000
INJECTED_CAMPAIGNS = 200
METRICS = ("cpu", "wall")


# Load that ramps up and down: busy for 0, 5, ..., 195 ms of each 200 ms, over and over.
RAMP = """
import time
step = 0
while True:
    busy = 0.005 * (step % 40)
    until = time.monotonic() + busy
    while time.monotonic() < until:
        pass
    time.sleep(0.2 - busy)
    step += 1
"""


@contextlib.contextmanager
def ramping_load():
    with subprocess.Popen([sys.executable, "-c", RAMP]) as load:
        try:
            yield
        finally:
            load.kill()


def calibrate(options, scratch, batches, *more):
    """The report of one calibration with `batches` batches of 5 ms runs."""
    done = run([options.build / "assay", "calibrate", "--batches", batches, "--work", "5ms",
                "--seed", "20261130", "--style", "none", "--json", "--archive", scratch / "archive",
                *more], timeout=3 * 3600)
    expect(done.returncode in (0, 1, 3), f"exit code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def expect_rare_and_symmetric_alarms(report, what):
    figures = {metric: report["calibration"][metric]["direct"] for metric in METRICS}
    for metric, direct in figures.items():  # all of them, before one of them can fail
        print(f"figure: A/A, pairs, {what}, {metric}: {direct['alarms']} alarms in "
              f"{direct['campaigns']} verdicts ({100 * direct['rate']:.1f} %): {direct['slower']} "
              f"slower, {direct['faster']} faster", flush=True)
    for metric, direct in figures.items():
        expect(direct["campaigns"] >= CAMPAIGNS, f"{metric}: {direct['campaigns']} verdicts only")
        expect(direct["rate"] <= 0.065, f"{metric}: {100 * direct['rate']:.2f} % alarms")
        # Four standard deviations of fair coins.
        expect(abs(direct["slower"] - direct["faster"]) <= 4 * direct["alarms"] ** 0.5,
               f"{metric}: {direct['slower']} slower, {direct['faster']} faster")


@check
def issue_24_a_program_against_itself_beside_a_busy_core_alarms_in_at_most_6_5_percent(
        options, scratch):
    report = calibrate(options, scratch, CAMPAIGNS * BATCHES_PER_CAMPAIGN, "--busy", "1")
    expect_rare_and_symmetric_alarms(report, "a busy core")


@check
def issue_01_a_program_against_itself_under_a_ramping_load_alarms_in_at_most_6_5_percent(
        options, scratch):
    with ramping_load():
        report = calibrate(options, scratch, CAMPAIGNS * BATCHES_PER_CAMPAIGN)
    expect_rare_and_symmetric_alarms(report, "ramping load")


@check
def the_same_in_blocks_order_is_printed_beside_it(options, scratch):
    # In blocks order a batch is a campaign: 30 runs of one side, then 30 of the other.
    report = calibrate(options, scratch, CAMPAIGNS, "--busy", "1", "--blocks")
    expect(report["plan_order"] == "blocks", "the plan was not in blocks order")
    for metric in METRICS:
        blocks = report["blocks"][metric]
        print(f"figure: A/A, blocks, {metric}: in {blocks['campaigns']} campaigns Welch's test "
              f"alarms {blocks['welch']} times, Mann-Whitney's {blocks['mann_whitney']}", flush=True)
        expect(blocks["campaigns"] >= CAMPAIGNS, f"{metric}: {blocks['campaigns']} campaigns only")


@check
def three_percent_more_work_is_found_by_the_cpu_time_verdict(options, scratch):
    report = calibrate(options, scratch, INJECTED_CAMPAIGNS * BATCHES_PER_CAMPAIGN, "--busy", "1",
                       "--inject", "3")
    for metric in METRICS:
        power = report["power"][metric]
        print(f"figure: +3 % work, {metric}: found in {power['found']} of {power['campaigns']} "
              f"campaigns of 60 pairs, called faster in {power['wrong_direction']}", flush=True)
    expect(report["power"]["cpu"]["campaigns"] >= INJECTED_CAMPAIGNS, "too few campaigns")
    expect(report["power"]["cpu"]["share_found"] >= 0.85,
           f"CPU time found {100 * report['power']['cpu']['share_found']:.1f} %")


run_checks()
