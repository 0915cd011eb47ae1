#!/usr/bin/env python3
"""Runs the commands that README.md, CONTRIBUTING.md and docs/ show, and checks links and flags.

A block that starts with ```console run is executed: each line that starts with "$ " is a command
(a line that ends in a backslash goes on in the next), the other lines are what it might print. The
blocks of one file share a scratch directory, in which `assay` is on PATH and ./run is `assay`.
Words after `run`:

    exit=N   the last command of the block exits with N (all others, and by default this one, with 0)
    match    the printed lines are compared; "..." in them stands for anything
    long     only with --long
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import CHECKS, ROOT, check, expect, expect_equal, run, run_checks, skip

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
COMMANDS = ["compare", "analyze", "calibrate", "doctor"]


class Block:
    def __init__(self, page, line, words):
        self.page, self.line, self.words = page, line, words
        self.commands = []  # [command, [output lines]]

    def place(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def exit_code(self):
        return next((int(w[5:]) for w in self.words if w.startswith("exit=")), 0)


def fenced(page):
    """Yields (line number, info string, lines) of every fenced block of a page."""
    info, start, lines = None, 0, []
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```") and info is None:
            info, start, lines = line[3:].strip(), number, []
        elif line.startswith("```"):
            yield start, info, lines
            info = None
        elif info is not None:
            lines.append(line)
    expect(info is None, f"{page}:{start}: the block is never closed")


def runnable_blocks(page):
    blocks = []
    for line, info, lines in fenced(page):
        words = info.split()
        if words[:1] != ["console"] or "run" not in words:
            continue
        block = Block(page, line, words)
        continued = False
        for text in lines:
            if continued:
                block.commands[-1][0] += "\n" + text
            elif text.startswith("$ "):
                block.commands.append([text[2:], []])
            elif block.commands:
                block.commands[-1][1].append(text)
            continued = text.endswith("\\") and (continued or text.startswith("$ "))
        expect(block.commands, f"{block.place()}: no line starts with '$ '")
        blocks.append(block)
    return blocks


def matches(printed, wanted):
    """Whether the wanted lines occur in what was printed, one after the other."""
    pattern = "\n".join(".*".join(re.escape(part) for part in line.split("..."))
                        if line.strip() != "..." else "(?:.*\n)*?.*" for line in wanted)
    return re.search(pattern, printed) is not None


def scratch_environment(build, scratch):
    folder = scratch / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "assay").symlink_to(build / "assay")
    (scratch / "work").mkdir(exist_ok=True)
    (scratch / "work" / "run").symlink_to(build / "assay")
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(scratch),
            "XDG_STATE_HOME": str(scratch / "state"), "ASSAY_CHECKOUT": str(ROOT)}


def run_block(block, options, scratch, env):
    for number, (command, output) in enumerate(block.commands, start=1):
        wanted = block.exit_code() if number == len(block.commands) else 0
        done = run(["bash", "-c", command], cwd=scratch / "work", env=env)
        said = f"{block.place()}: $ {command}\n{done.stdout}{done.stderr}"
        expect(done.returncode == wanted, f"exit code {done.returncode}, wanted {wanted}: {said}")
        if "match" in block.words and output:
            expect(matches(done.stdout + done.stderr, output), f"other output: {said}")


def page_check(page):
    def commands_run(options, scratch):
        expect((options.build / "assay").is_file(), f"{options.build}/assay is not built")
        env = scratch_environment(options.build, scratch)
        for block in runnable_blocks(page):
            if "long" in block.words and not options.long:
                continue
            run_block(block, options, scratch, env)
    commands_run.__name__ = f"the_commands_run_in {page.relative_to(ROOT)}"
    return commands_run


for _page in PAGES:
    if runnable_blocks(_page):
        CHECKS.append(page_check(_page))


@check
def the_readme_shows_commands_that_are_run(_options, _scratch):
    expect(runnable_blocks(ROOT / "README.md"), "README.md has no ```console run block")


@check
def every_link_between_pages_has_a_target(_options, _scratch):
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" in target or target.startswith("#"):
                continue
            if not (page.parent / target.split("#")[0]).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    expect_equal(broken, [], "broken links")


@check
def every_page_is_linked_from_the_index(_options, _scratch):
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.split("#")[0]).resolve()
              for target in re.findall(r"\]\(([^)\s]+)\)", index.read_text())}
    missing = [str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")
               if page != index and page.resolve() not in linked]
    expect_equal(sorted(missing), [], "pages that docs/README.md does not link")


def flags_in_help(text):
    """Every flag that a --help text introduces (at the start of an option's line)."""
    flags = set()
    for line in text.splitlines():
        found = re.match(r"\s+(-[^\s,]+(?:,\s?-[^\s,]+)*)", line)
        if found:
            flags.update(re.findall(r"--?[A-Za-z][\w-]*", found.group(1)))
    return flags


def section_of(reference, command):
    found = re.search(rf"^## `assay {command}.*?(?=^## |\Z)", reference, re.M | re.S)
    expect(found is not None, f"docs/reference/cli.md has no section for `assay {command}`")
    return found.group(0)


def help_check(command):
    def documented(options, _scratch):
        done = run([options.build / "assay", command, "--help"])
        expect_equal(done.returncode, 0, "exit code of --help")
        real = flags_in_help(done.stdout) - {"-h", "--help"}
        expect(real, f"no flag was found in:\n{done.stdout}")
        section = section_of((ROOT / "docs" / "reference" / "cli.md").read_text(), command)
        rows = "\n".join(line for line in section.splitlines() if line.startswith("| `-"))
        named = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", " ".join(
            row.split("|")[1] for row in rows.splitlines())))
        expect_equal(sorted(real - named), [], "flags in --help that cli.md lacks")
        expect_equal(sorted(named - real), [], "flags in cli.md that --help lacks")
    documented.__name__ = f"every_flag_of_{command}_is_documented_and_none_is_invented"
    return documented


for _command in COMMANDS:
    CHECKS.append(help_check(_command))

if __name__ == "__main__":
    run_checks()
