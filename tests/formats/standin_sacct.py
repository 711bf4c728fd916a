"""
A stand-in for sacct: it prints the jobs of a log as they were at a moment, and fails as the real one does.

The environment says the log (``STANDIN_LOG``), the moment (``STANDIN_NOW``, in seconds) and, as JSON, what is
wrong with it (``STANDIN_FAULTS``). What it was asked is appended to the file ``STANDIN_ASKED``.
"""

import argparse
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TIMES = ("Submit", "Eligible", "Start", "End")


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flags in (
        ("-a", "--allusers"), ("-D", "--duplicates"), ("-P", "--parsable2"), ("-X", "--allocations"),
        ("-n", "--noheader"), ("--noconvert",),
    ):  # fmt: skip
        parser.add_argument(*flags, action="store_true")
    for flags in (("-S", "--starttime"), ("-E", "--endtime"), ("-o", "--format"), ("-M", "--clusters")):
        parser.add_argument(*flags)
    return parser.parse_args()


def moment(text):
    """Return the seconds of a time as it is given or stored: of UTC, or of the zone of the environment."""
    if text in {"Unknown", "None", ""}:
        return None
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def as_given(text):
    """Return the seconds of a time of the command line, which is a local one."""
    return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def printed(seconds):
    if seconds is None:
        return "Unknown"
    return time.strftime(os.environ.get("SLURM_TIME_FORMAT", "%Y-%m-%dT%H:%M:%S"), time.localtime(seconds))


def jobs(log):
    """Return the rows of each run of a job: its own, then those of its steps."""
    with Path(log).open() as lines:
        names = next(lines).rstrip("\n").split("|")
        runs: list[list[dict[str, str]]] = []
        for line in lines:
            row = dict(zip(names, line.rstrip("\n").split("|"), strict=True))
            if "." in row["JobID"]:
                runs[-1].append(row)
            else:
                runs.append([row])
    return runs


def as_of(run, now):
    """Return the rows of a run as they were at a moment; none before it was submitted."""
    times = {name: moment(run[0][name]) for name in TIMES}
    if times["Submit"] > now:
        return []
    if times["End"] is not None and times["End"] <= now:
        return [dict(row, **{name: moment(row[name]) for name in TIMES}) for row in run]
    if times["Start"] is None or times["Start"] > now:
        return [
            dict(
                run[0], **times | {"Start": None, "End": None}, State="PENDING", Elapsed="00:00:00",
                AllocCPUS="0", AllocTRES="", NodeList="None assigned", AdminComment="", TotalCPU="00:00:00",
                ExitCode="0:0", ConsumedEnergyRaw="0",
            )
        ]  # fmt: skip
    open_cells = {
        "End": None, "State": "RUNNING", "AdminComment": "", "TotalCPU": "00:00:00", "MaxRSS": "",
        "AveRSS": "", "TRESUsageInTot": "", "ConsumedEnergyRaw": "0", "ExitCode": "0:0",
        "Elapsed": f"{int((now - times['Start']) // 3600):02}:00:00",
    }  # fmt: skip
    rows = [dict(row, **{name: moment(row[name]) for name in TIMES}) for row in run]
    # Long runs have days in their Elapsed.
    days, hours = divmod(int(now - times["Start"]) // 3600, 24)
    open_cells["Elapsed"] = f"{days}-{hours:02}:00:00" if days else f"{hours:02}:00:00"
    return [dict(row, **open_cells) for row in rows]


def waiting_arrays(rows):
    """Return *rows* with the tasks of each array that wait as one."""
    seen, kept = set(), []
    for row in rows:
        array = row["JobID"].partition("_")
        if array[1] and row["State"] == "PENDING":
            if array[0] not in seen:
                kept.append(dict(row, JobID=f"{array[0]}_[0-99]", JobIDRaw=array[0]))
            seen.add(array[0])
        else:
            kept.append(row)
    return kept


def refuse(text, status=1):
    sys.stderr.write(f"sacct: error: {text}\n")
    sys.exit(status)


def asked(begin, end):
    """Note what was asked, and return how many questions there were."""
    path = Path(os.environ["STANDIN_ASKED"])
    with path.open("a") as lines:
        lines.write(f"{begin:.0f} {end:.0f}\n")
    return len(path.read_text().splitlines())


def fail(faults, begin, end, columns):
    """Do what is wrong with the database, the network, or the one who asks."""
    number = asked(begin, end)
    if faults.get("kills_at") == number:
        os.kill(os.getppid(), signal.SIGKILL)
    if faults.get("down_from", number + 1) <= number:
        refuse("Unable to connect to database: Connection refused")
    if end - begin > faults.get("widest", end):
        refuse("slurmdbd: Too wide of a date range in query")
    if end - begin > faults.get("slow_over", end):
        time.sleep(60)
    if any(begin < moment(bad) + 1 <= end for bad in faults.get("broken_at", ())):
        refuse("slurmdbd: Getting response to message type: DBD_GET_JOBS_COND", faults.get("status", 1))
    for column in {*faults.get("unknown", ())} & {*columns}:
        refuse(faults.get("says", 'Invalid field requested: "{0}"').format(column))


def chosen(given, is_private, begin, end):
    """Return the rows of the runs that the options choose, as they are now."""
    rows: list[tuple[str, list[dict[str, Any]]]] = []
    last = {}
    for run in jobs(os.environ["STANDIN_LOG"]):
        found = as_of(run, float(os.environ["STANDIN_NOW"]))
        if not found:
            continue
        own = found[0]
        is_in = own["Eligible"] < end and (own["End"] is None or own["End"] >= begin)
        is_seen = (given.allusers and not is_private) or own["User"] == os.environ.get("STANDIN_USER")
        is_here = not given.clusters or own["Cluster"] in given.clusters.split(",")
        if is_in and is_seen and is_here:
            last[own["JobID"]] = len(rows)
            rows.append((own["JobID"], found[:1] if given.allocations else found))
    if not given.duplicates:
        rows = [row for number, row in enumerate(rows) if last[row[0]] == number]
    return waiting_arrays([row for _, found in rows for row in found])


def main():
    given, faults = arguments(), json.loads(os.environ.get("STANDIN_FAULTS", "{}"))
    begin, end, columns = as_given(given.starttime), as_given(given.endtime), given.format.split(",")
    fail(faults, begin, end, columns)
    lines = [] if given.noheader else ["|".join(columns)]
    for row in chosen(given, faults.get("private"), begin, end):
        times = {name: printed(row[name]) for name in TIMES}
        lines.append("|".join(str({**row, **times}.get(column, "")) for column in columns))
    text = "".join(f"{line}\n" for line in lines)
    if end - begin > faults.get("torn_over", end):
        text = text[: len(text) * 2 // 3].rstrip("\n")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
