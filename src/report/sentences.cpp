// The one table of reason codes in plain words. docs/reference/reason-codes.md lists the same
// codes.
#include "assay/report/render.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace assay::report {
namespace {

struct Reason {
  std::string_view code;
  std::string_view sentence;
};

// Sorted by code (a test holds that), so that look-up is a binary search.
constexpr Reason kReasons[] = {
    {"alarms_above_bound", "Calibration found more false alarms than the bound allows."},
    {"below_resolution",
     "At least one run used less CPU time than the kernel can count, so CPU time gives no verdict; "
     "more work per run would."},
    {"blocks_order",
     "All runs of one side came before those of the other, so any drift of the machine counts as a "
     "difference; such data are never gated."},
    {"calibration_expired",
     "The newest calibration of this host is too old to be cited; `assay calibrate` makes "
     "another."},
    {"calibration_of_another_host",
     "The calibration records here were made on another host, or before this one changed (kernel, "
     "governor, limits, ...), so none is cited."},
    {"calibration_under_load",
     "The calibration record that is cited was itself made while other work or the hypervisor kept "
     "the machine busy, so it describes that state; `assay calibrate` on a quiet host makes "
     "another."},
    {"calibration_unreadable",
     "A calibration record is there, but damaged or not readable, so none is cited."},
    {"campaign_failed",
     "The campaign could not go on and stopped, so nothing is claimed from its runs."},
    {"descendants_left",
     "Some runs left processes behind when they ended; they were killed, and their work may be "
     "missing from the time."},
    {"ended_by_signal", "A signal ended the run, so it has no exit code."},
    {"evidence_not_persisted",
     "A record could not be written durably (disk full or read-only?), so the campaign stopped: a "
     "result without evidence is worth nothing."},
    {"exits_differ",
     "The sides ended in different ways (exit codes or signals), so the times may belong to "
     "different work; where every failure is ignored, no gate passes with that."},
    {"fail_impossible_at_this_layout",
     "With this many batches and cases the corrected test cannot reach FAIL whatever is measured; "
     "use more batches (--batches) or fewer cases."},
    {"figures_missing",
     "Some runs of complete pairs lack this figure, and a verdict from the others would be a "
     "choice among runs; it says nothing instead."},
    {"files_changed",
     "A program or the input changed while the campaign ran, so its runs are not of one thing; the "
     "campaign stopped there."},
    {"gaps_differ",
     "The pause before a run differs between the sides, which changes caches and clock frequency "
     "(a --prepare or --conclude that takes longer on one side does that); --idle-gap makes the "
     "pauses equal."},
    {"hook_failed",
     "A setup, prepare, conclude or cleanup command failed, so the campaign stopped there."},
    {"host_calibration_failed",
     "Calibration of this host FAILED: too many false alarms, or a difference, a drift or a tail "
     "between two copies of one program. PASS and FAIL are withheld; a newer calibration (`assay "
     "calibrate`) takes its place."},
    {"host_cannot_resolve",
     "The noise of this host is too large for the difference of interest within the batches "
     "allowed; a quieter host or a longer run is needed."},
    {"host_not_calibrated",
     "The false-alarm rate of this host has not been measured; `assay calibrate` does that."},
    {"host_state_not_observed",
     "Some facts about the machine's state could not be read, so they cannot be ruled out as a "
     "cause."},
    {"host_steal",
     "The hypervisor took CPU time away while pairs ran; wall time suffers from that, CPU time "
     "much less."},
    {"incomplete_batch",
     "Some case has no pair in a batch; that batch is left out of the mean over cases."},
    {"interrupted",
     "The campaign was interrupted before its plan was done; every finished pair counts, but the "
     "planned scope was not reached."},
    {"interval_not_defined", "This rule is a test without an interval, so there is none to print."},
    {"interval_unbounded",
     "The data do not bound the ratio on one side (too few batches, or too different ones)."},
    {"label_effect",
     "Two copies of one file differed in calibration: something is tied to the label and not to "
     "the program."},
    {"launcher_lost",
     "The helper that starts the runs died, so the campaign ended there; every finished pair "
     "counts."},
    {"layout_padding_off",
     "The memory layout of the environment was the same in every batch; a difference may come from "
     "that layout alone. Leave layout padding on."},
    {"load_high",
     "Other work kept the machine busy: the load before the campaign was above the bound of `assay "
     "doctor`. Intervals are wider for it, and wall time suffers most."},
    {"method_not_applicable", "The method asked for does not fit these data."},
    {"methods_disagree",
     "The two interval methods do not tell the same story: one of them excludes what the other "
     "allows. The verdict follows clustered-signed-rank-v1 alone."},
    {"no_complete_pairs",
     "There is no pair in which both runs are usable, so there is nothing to compare."},
    {"no_oracle",
     "Nothing independent says what the right output is (--oracle, --oracle-cmd); equal outputs "
     "may be equally wrong."},
    {"noisy_stderr", "A run wrote to standard error although the policy requires it to be silent."},
    {"not_available", "The figure could not be observed on this host."},
    {"not_significant_after_holm",
     "Taken alone this case would fail, but not once the number of cases is accounted for (Holm): "
     "among many cases some look slow by chance."},
    {"not_started", "The run never started, so it has no figures."},
    {"one_batch_decides",
     "Without its most extreme batch the verdict would be another one; look at that batch before "
     "trusting it."},
    {"one_host_only",
     "Everything was measured on one machine, with one input and one build; another one may show "
     "another difference."},
    {"order_effect",
     "Which program runs first in a pair changes the ratio; the order is balanced, so the estimate "
     "holds, but something carries over from one run to the next."},
    {"order_not_recorded",
     "The numbers do not say which side ran first in a pair, so an advantage of position cannot be "
     "told from a difference."},
    {"order_unbalanced",
     "The two sides did not go first equally often, so an advantage of position could pass for a "
     "difference."},
    {"other_workload_not_excluded",
     "Other programs may have been running on the machine; nothing observed here rules that out."},
    {"outliers",
     "More than 5 % of the runs lie far from the rest of their side. None is removed; the rank "
     "methods give each the weight of one pair."},
    {"output_contains_paths",
     "Captured output holds paths of this machine; it is stored unchanged, so check before "
     "publishing the archive."},
    {"output_not_captured",
     "The output went elsewhere by request (--output), so it has no digest and could not be "
     "compared."},
    {"output_not_checked",
     "Output was not captured whole in every run, so nothing says that both sides gave the same "
     "one."},
    {"output_not_deterministic",
     "The same side gave different outputs in different runs, so output alone cannot show that "
     "both do the same work; an oracle (--oracle, --oracle-cmd) can."},
    {"output_truncated",
     "Some output was longer than its bound and is not stored or hashed whole, so it could not be "
     "compared."},
    {"outputs_differ",
     "Reference and candidate gave different outputs, so the times may belong to different work; "
     "there is no PASS without an oracle that accepts both."},
    {"outputs_not_stored",
     "Captured outputs could not be stored in the archive; the measurements are not affected."},
    {"pairs_rejected",
     "Some pairs hold an unusable run; they stay in the archive and out of the figures."},
    {"planned_runs_missing",
     "Runs of the plan are missing, so the declared scope was not measured."},
    {"pool_too_small", "Calibration needs more batches than there were."},
    {"quick_preset",
     "The quick preset measures too little for a verdict; it shows the way a report looks."},
    {"ratio_drift",
     "The ratio itself wanders during the campaign (neighbouring pairs or batches are alike), "
     "which makes every interval too narrow."},
    {"ratio_drift_needs_many_batches",
     "Drift of the ratio only shows over many batches; a larger --budget looks harder."},
    {"ratio_drift_not_excluded",
     "Every interval assumes that the ratio itself does not wander while the campaign runs; the "
     "plan protects against shared drift, not against that."},
    {"rss_quantised",
     "The kernel gave no usable peak memory for some runs (it counts in whole pages, sometimes in "
     "large steps), so those runs have no memory figure."},
    {"run_failed",
     "A run ended with a failing exit code or a signal; use --ignore-failure only where failing is "
     "the expected result."},
    {"run_launch_error", "A run could not be started."},
    {"run_output_limit", "A run wrote more output than its bound allows and was stopped there."},
    {"run_timeout", "A run was still going at its time limit (--timeout) and was killed."},
    {"short_run",
     "Runs under 200 ms: starting a process and scheduling it are a large part of the time. Let "
     "the program do more work inside one run."},
    {"sighup", "The terminal went away (SIGHUP)."},
    {"sigint", "Somebody pressed Ctrl-C."},
    {"sigquit", "Somebody pressed Ctrl-\\ (SIGQUIT)."},
    {"sigterm", "The process was asked to end (SIGTERM)."},
    {"single_batch", "All pairs come from one batch, so the spread between set-ups is unknown."},
    {"steal_high",
     "The hypervisor took more CPU time during the campaign than the bound of `assay doctor`; wall "
     "time is affected, CPU time much less."},
    {"stopped_at_look",
     "The adaptive rule stopped the campaign at a planned look; the interval's level is the one of "
     "that look."},
    {"tail",
     "Calibration found a tail on one of two equal copies, which only chance or the host can "
     "explain."},
    {"tail_needs_more_pairs",
     "There are too few pairs to show that slow runs did not become more frequent."},
    {"tail_not_asked",
     "Rare slow runs were not judged: so few pairs cannot show them. --tail-gate asks for it and "
     "plans 20 batches x 6 pairs."},
    {"tail_not_resolvable",
     "Too many runs are slow on both sides already (over 1.1 times the typical run), which would "
     "hide an additional tail on this host."},
    {"tests_disagree",
     "The t test and the exact sign-flip test over batches do not agree, and a claim needs both."},
    {"too_few_batches",
     "A verdict needs at least 8 batches; fewer cannot tell a difference between batches from a "
     "difference between programs (--batches 10)."},
    {"too_few_values",
     "There are fewer than two values on a side; nothing can be said about their spread."},
    {"trend", "The ratio rises or falls steadily over the campaign."},
    {"typical_run_only",
     "The pass is about the typical run; nothing is shown about rare slow runs."},
    {"unbatched_data",
     "The numbers carry no batches, so the spread between set-ups is unknown; they are analysed, "
     "never gated."},
    {"unlikely_within_budget",
     "Even four times the batches would decide with a probability below one half; the line that "
     "begins with more data gives the number."},
    {"unpaired_data",
     "The numbers are not pairs measured side by side, so drift of the machine may be part of the "
     "difference; they are analysed, never gated."},
    {"wrong_output", "A run's output was not what the oracle says; such a run never counts."},
    {"zero_spread",
     "All ratios are the same number, so the spread that a test needs is zero (a coarse clock, or "
     "a figure that never changes)."},
};

}  // namespace

std::string reason_sentence(const std::string& code) {
  const auto* found =
      std::lower_bound(std::begin(kReasons), std::end(kReasons), code,
                       [](const Reason& r, const std::string& c) { return r.code < c; });
  return found != std::end(kReasons) && found->code == code ? std::string(found->sentence)
                                                            : std::string();
}

std::vector<std::string> known_reason_codes() {
  std::vector<std::string> codes;
  for (const Reason& reason : kReasons)
    codes.emplace_back(reason.code);
  return codes;
}

}  // namespace assay::report
