"""An agent-like job: state that is in memory only, a file that grows, a database in WAL mode.

Every step is a link of one chain, chain(n) = sha256(chain(n-1) n), and is written to all three
places. Whoever reads any of them can tell from the numbers alone whether anything is missing, torn,
or from another past. It goes on from its database when it is started again.
"""

import hashlib
import os
import random
import sqlite3
import sys
import time

WORK = "work"
REGION_BYTES = 4 << 20
STEP_SECONDS = 0.25


def link(before, n):
    return hashlib.sha256(f"{before} {n}".encode()).hexdigest()


def chain(last):
    text = ""
    for n in range(1, last + 1):
        text = link(text, n)
    return text


def run():
    os.makedirs(WORK, exist_ok=True)
    db = sqlite3.connect(f"{WORK}/steps.db", isolation_level=None)
    assert db.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE IF NOT EXISTS steps (n INTEGER PRIMARY KEY, chain TEXT, pad BLOB)")
    n = db.execute("SELECT coalesce(max(n), 0) FROM steps").fetchone()[0]
    log = open(f"{WORK}/steps.log", "a+", buffering=1)
    trim(log, n)
    text = chain(n)
    region = bytearray(random.Random(7).randbytes(REGION_BYTES))
    kept = hashlib.sha256(region).hexdigest()
    print(f"from {n} {os.getpid()}", flush=True)
    while True:
        n += 1
        text = link(text, n)
        log.write(f"{n} {text}\n")
        db.execute("INSERT INTO steps VALUES (?, ?, randomblob(2000))", (n, text))
        if n % 20 == 0 and hashlib.sha256(region).hexdigest() != kept:
            sys.exit("the memory of the job changed by itself")
        print(f"{n} {text}", flush=True)
        time.sleep(STEP_SECONDS)


def trim(log, n):
    """The file may be one step ahead of the database: the job stopped between the two."""
    log.seek(0)
    lines = log.readlines()
    if len(lines) > n:
        log.truncate(sum(len(line) for line in lines[:n]))
    log.seek(0, os.SEEK_END)


def check():
    """Prints the last step of file and database after looking at every one of them.

    The job goes on meanwhile: what the database had before the file was read must be in the file,
    and the file may be one step ahead of what the database has after that.
    """
    db = sqlite3.connect(f"{WORK}/steps.db", isolation_level=None)
    db.execute("BEGIN")
    db.execute("SELECT max(n) FROM steps").fetchone()  # from here on this is what is seen
    text = ""
    count = 0
    for line in open(f"{WORK}/steps.log"):
        if not line.endswith("\n"):
            break  # it is being written
        count += 1
        text = link(text, count)
        if line != f"{count} {text}\n":
            sys.exit(f"line {count} of the file is {line!r}")
    after = sqlite3.connect(f"{WORK}/steps.db").execute("SELECT max(n) FROM steps").fetchone()[0]
    fault = db.execute("PRAGMA integrity_check").fetchone()[0]
    if fault != "ok":
        sys.exit(f"the database: {fault}")
    rows, last = 0, ""
    for n, kept in db.execute("SELECT n, chain FROM steps ORDER BY n"):
        rows += 1
        last = link(last, rows)
        if n != rows or kept != last:
            sys.exit(f"row {rows} of the database is {n} {kept}")
    if not rows <= count <= after + 1:
        sys.exit(f"{count} lines, but {rows} rows before and {after} after")
    print(rows)


def memory(pid):
    """Hash of all that a process that stands still has written: its private, writable memory."""
    digest = hashlib.sha256()
    total = 0
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            span, mode = line.split()[:2]
            if not mode.startswith("rw") or "[v" in line:
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            mem.seek(start)
            digest.update(f"{span}\n".encode())
            digest.update(mem.read(end - start))
            total += end - start
    print(digest.hexdigest(), total)


def files():
    """Hash over name and content of every file of the root file system."""
    digest = hashlib.sha256()
    count = 0
    root = os.lstat("/").st_dev
    for directory, names, found in os.walk("/"):
        names[:] = sorted(n for n in names if os.lstat(os.path.join(directory, n)).st_dev == root)
        for name in sorted(found):
            path = os.path.join(directory, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path} {content}\n".encode())
            count += 1
    print(digest.hexdigest(), count)


if __name__ == "__main__":
    {"run": run, "check": check, "memory": memory, "files": files}[sys.argv[1]](*sys.argv[2:])
