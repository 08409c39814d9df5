"""Runs the commands of the pages: pages.py fast|slow; called by test_pages.sh and test_pages_slow.sh.

A page is README.md or a file below docs/. Its commands stand in blocks of code: the lines after "$ ", or every line of a
block that is marked as ```sh or has a line that starts with yoke, make, tools/ or build/. The blocks of a page run in order
in a copy of the tree; each command must end with status 0, or with N where its line ends in "# status N". Comments in the
lines above a block change that:

  <!-- not run: REASON -->          for what cannot be run in a test; its words and options are checked all the same
  <!-- or N: REASON -->             its commands may end with status N as well
  <!-- slow: REASON -->             runs in test_pages_slow only, with all other blocks of its page
  <!-- before: COMMAND -->          makes the files that the block takes for granted, at the root of the copy
  <!-- file: NAME -->               the block is kept as a file of that name for the commands below it

Everywhere, also in `code` within the text, a command of yoke must exist and know its options.
"""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = os.environ["YOKE_SOURCE_DIR"]
BUILD = os.environ["YOKE_BUILD_DIR"]
PROGRAM = os.environ["YOKE_PROGRAM"]
FMUS = os.environ["YOKE_FMUS"]
FIRST_WORDS = ("yoke ", "make ", "tools/", "build/")
LONG_S = 10
TIMEOUT_S = {"fast": 300, "slow": 1800}
failures = []


def fail(place, text):
    failures.append(place)
    print("%s: %s" % (place, text), flush=True)


class Block:
    def __init__(self, page, line, info, marks, lines):
        self.page, self.line, self.info, self.marks, self.lines = page, line, info, marks, lines

    def has(self, kind):
        return any(kind == other for _, other, _ in self.marks)

    def commands(self):
        """(line number, text) of each command, continued lines joined by a newline."""
        prompted = any(text.startswith("$ ") for text in self.lines)
        is_commands = self.info == "sh" or self.info == "" and any(text.startswith(FIRST_WORDS) for text in self.lines)
        if not prompted and not is_commands:
            return []
        found, i = [], 0
        while i < len(self.lines):
            text, start = self.lines[i], i
            if not prompted or text.startswith("$ "):
                text = text[2:] if prompted else text
                while text.endswith("\\") and i + 1 < len(self.lines):
                    i += 1
                    text += "\n" + self.lines[i]
                if text.strip() and not text.lstrip().startswith("#"):
                    found.append((self.line + 1 + start, text))
            i += 1
        return found


def read_page(page):
    blocks, texts, marks = [], [], []
    inside = None
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if line.startswith("```"):
                if inside is None:
                    inside = Block(page, number, line[3:].strip(), marks, [])
                else:
                    blocks.append(inside)
                    inside, marks = None, []
            elif inside is not None:
                inside.lines.append(line)
            else:
                mark = re.fullmatch(r"<!-- (not run|or \d+|slow|before|file): (.*) -->", line.strip())
                if mark:
                    marks = marks + [(number, mark.group(1), mark.group(2))]
                else:
                    for mark_line, kind, _ in marks:
                        fail("%s:%d" % (page, mark_line), "'%s' must stand in the line above a block of code" % kind)
                    marks = []
                    texts.append((number, line))
    return blocks, texts


# ---- words and options
class Help:
    def __init__(self):
        self.options = {"": self.read([]) | {"--man"}}
        self.commands = set(re.findall(r"^  ([a-z]+) ", self.text, re.M))

    def read(self, words):
        self.text = subprocess.run([PROGRAM] + words + ["--help"], capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", self.text))

    def check(self, place, command):
        for part in re.split(r"[\n|;&]+ *", command.replace("\\\n", " ")):
            words = part.split("#")[0].split()
            if "yoke" not in words[:2] or len(words) < 2:
                continue
            words = words[words.index("yoke") + 1:]
            name = words[0] if words and re.fullmatch("[a-z]+", words[0]) else ""
            if name and name not in self.commands:
                fail(place, "yoke has no command '%s'" % name)
                continue
            if name not in self.options:
                self.options[name] = self.read([name])
            for option in re.findall(r"(?<![\w=.,'\"/-])--[a-z][a-z-]*", part.split("#")[0]):
                if option not in self.options[name] | self.options[""]:
                    fail(place, "yoke %s has no option %s" % (name, option))


def check_words(helps, page, blocks, texts):
    for block in blocks:
        for number, command in block.commands():
            helps.check("%s:%d" % (page, number), command)
    paragraph = "\n".join(text for _, text in texts)
    for code in re.findall(r"(?<!`)`(yoke [^`]*)`(?!`)", paragraph):
        helps.check(page, code.replace("\n", " "))


# ---- running
def make_copy(work):
    """All of the tree: what commands write must not end up in it."""
    for name in set(os.listdir(SOURCE)) - {"build", "results", ".git"}:
        path, to = os.path.join(SOURCE, name), os.path.join(work, name)
        (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, to)
    os.makedirs(os.path.join(work, "build"))
    os.symlink(BUILD, os.path.join(work, "build", "release"))
    os.mkdir(os.path.join(work, "bin"))
    os.symlink(PROGRAM, os.path.join(work, "bin", "yoke"))


def keep_file(work, block):
    for _, kind, name in block.marks:
        if kind == "file":
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write("\n".join(block.lines) + "\n")


def used_time():
    """Seconds of the processor that ended commands have taken: the same on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_block(work, block, mode):
    script = ["exec 2>&1"]
    commands = [(number, text) for number, kind, text in block.marks if kind == "before"] + block.commands()
    for number, text in commands:
        want = re.search(r"# status (\d+)\s*$", text)
        script += ["echo '@%d'" % number, text]
        if not re.search(r"&\s*(#.*)?$", text):
            allowed = [want.group(1) if want else "0"]
            allowed += [kind[3:] for _, kind, _ in block.marks if kind.startswith("or ")]
            script.append("status=$?; case $status in %s) ;; *) echo \"@status $status\"; exit 1 ;; esac" % "|".join(allowed))
    script.append("kill $(jobs -p) 2>/dev/null; exit 0")
    path = os.path.join(work, ".block.sh")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(script) + "\n")
    environment = dict(os.environ, PATH=os.path.join(work, "bin") + ":" + os.environ["PATH"], YOKE_PROGRAM=PROGRAM)
    start = used_time()
    with open(os.path.join(work, ".output"), "w+b") as output:
        process = subprocess.Popen(["bash", path], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, start_new_session=True)
        try:
            status = process.wait(TIMEOUT_S[mode])
        except subprocess.TimeoutExpired:
            status = "none within %d s" % TIMEOUT_S[mode]
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        output.seek(0)
        lines = output.read().decode(errors="replace").split("\n")
    if mode == "fast" and used_time() - start > LONG_S:
        print("%s:%d took %.0f s of the processor: mark it as slow" % (block.page, block.line, used_time() - start), flush=True)
    if status != 0:
        at = [int(line[1:]) for line in lines if re.fullmatch(r"@\d+", line)]
        told = [line for line in lines if line.startswith("@status ")]
        number = at[-1] if at else block.line
        text = dict(commands).get(number, "")
        fail("%s:%d" % (block.page, number), "%s: %s\n  %s" % (
            told[-1][1:] if told else "status %s" % status, text,
            "\n  ".join(line for line in lines[-15:] if line and not line.startswith("@"))))
    return len(block.commands())


def main():
    mode, only = sys.argv[1], sys.argv[2:]
    pages = only or ["README.md"] + sorted(os.path.relpath(path, SOURCE)
                                           for path in glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True))
    helps = Help()
    n_run = n_left = n_pages = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = tempfile.mkdtemp(prefix="yoke-pages-")
    try:
        make_copy(work)
        own = set(os.listdir(work))
        for page in pages:
            blocks, texts = read_page(page)
            check_words(helps, page, blocks, texts)
            if mode == "slow" and not any(block.has("slow") for block in blocks):
                continue
            if not any(block.commands() for block in blocks):
                continue
            n_pages += 1
            for block in blocks:
                keep_file(work, block)
                if block.has("not run"):
                    n_left += len(block.commands())
                elif block.commands() and (mode == "slow" or not block.has("slow")):
                    n_run += run_block(work, block, mode)
            # the next page finds nothing of this one
            for name in set(os.listdir(work)) - own:
                path = os.path.join(work, name)
                (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%d pages, %d commands run, %d marked as not run, %d failed" % (n_pages, n_run, n_left, len(failures)))
    sys.exit(1 if failures or n_run == 0 else 0)


main()
