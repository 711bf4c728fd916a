"""The first screen answers clicks: what it shows of a selection are the facts of that part of the trace."""

import json
import math
import random
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import gwa
from gwa.analysis.budget_sentence import budget_sentence, selection_sentence
from gwa.analysis.waiting_bar import waiting_bar
from gwa.breakdown import cube
from gwa.breakdown.budget import budget
from gwa.breakdown.dimensions import Dimension, recorded
from gwa.errors import TraceError
from gwa.formats.open import open_trace
from gwa.report.html import html
from gwa.report.language import read_language, translated
from gwa.store.engines.duckdb import literal
from gwa.store.options import ReadOptions
from gwa.trace import Trace
from tests.analysis.test_gpu_log import COLUMNS
from tests.browser.conftest import visit
from tests.converters.test_jobstats import node, summary
from tests.metrics.test_waiting import simulated

ROOT = Path(__file__).parents[2]
LOGS = ROOT.parent / "shared" / "traces"
EPOCH = date(1970, 1, 1)

REAL = {
    name: next(LOGS.glob(pattern), None)
    for name, pattern in {
        "CEA-Curie": "swf/CEA-Curie*", "HPC2N": "swf/HPC2N*", "LCG": "swf/LCG*", "KTH": "swf/KTH*",
        "GPUs by Slurm": "today/hb-jobinfo/sacct.txt",
        "GPUs of Pods": "today/alibaba-gpu2023/openb_pod_list_default.csv",
    }.items()
}  # fmt: skip
"""Logs of others, where they lie beside the project."""

COMPARED = ("trace.jobs", "budget.", "gpu.budget.")
HALF_OCTAVE = 0.5 + 1e-9
BAD = ("limit", "failed", "cancelled")

SET = """
hash => new Promise((done) => {
  if (location.hash === hash) return done();
  addEventListener("hashchange", () => setTimeout(done), {once: true});
  location.hash = hash;
})
"""

READ = """
() => Object.fromEntries([...document.querySelectorAll(
  ".head .summary [data-fact='trace.jobs'], #lead .hours i")]
  .map((one) => [one.dataset.fact || one.className.replace("of-", ""), Number(one.dataset.value)]))
"""


SIZES_OF_LETTERS = """
[...document.querySelectorAll("#explorer *")].map((one) => parseFloat(getComputedStyle(one).fontSize))
"""


def page_of(trace, folder):
    """Write the page of *trace* with few sections, but with all that it filters; return the file."""
    path = folder / "page.html"
    path.write_text(html(trace.report(["overview", "budget", "waits"], explore=True)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Return a small trace with dates, users, queues, sizes and requests, and its page."""
    folder = tmp_path_factory.mktemp("explorer")
    with gwa.open(ROOT / "sample_traces" / "swf" / "tiny.swf") as trace:
        yield trace, page_of(trace, folder)


FOLLOWING = (
    "overview", "utilization", "users", "projects", "queues", "partitions", "sizes", "requests", "hours",
    "weekdays", "months", "waits", "waits-by-class", "outcomes", "arrivals", "week", "run-times",
)  # fmt: skip
"""Sections of which cells tell tables and figures, and one of which they do not."""

READ_ROWS = """
() => [...document.querySelectorAll("main td[data-fact]:not([hidden])")].map((cell) => [cell.dataset.fact,
  cell.parentElement.cells[0].textContent, cell.dataset.key, JSON.parse(cell.dataset.value)])
"""

OF_CELLS = {"share": "jobs_share", "core_hours": "cpu_seconds", "core_hours_share": "cpu_share"}
"""What the table of outcomes calls measures."""


def settled(page):
    """Wait until the chapters show what is selected."""
    page.locator("#content:not([aria-busy])").wait_for()


def rows_of(page):
    """Return by fact and name of a class what the tables below the first screen show of a selection."""
    settled(page)
    rows: dict[tuple[str, str], dict[str, float | None]] = {}
    for fact, name, key, value in page.evaluate(READ_ROWS):
        rows.setdefault((fact, name), {})[key] = value
    return rows


def check_chapters(page, address, part, facts):
    """Compare what the tables below the first screen show with the *facts* of a *part*; return how many."""
    page.evaluate(SET, address)
    shown, compared = rows_of(page), 0
    known = {}
    for fact in facts:
        for row in part.facts(fact).get(fact) or ():
            known[fact, row["id"]] = row
    of_outcomes = {name for fact, name in shown if fact == "outcomes.by_cpu"}
    for (fact, name), row in shown.items():
        of_fact = known.get((fact, name))
        if of_fact is None or (fact == "outcomes.by_cpu" and "running" in of_outcomes):
            continue  # one beyond the lists of facts, or counted with jobs that run
        for key, value in row.items():
            expected = of_fact.get(OF_CELLS.get(key, key))
            if expected is None or key in {"median", "p95", "wait_median", "wait_p95"}:
                continue  # interpolated where few jobs are far apart
            if key.startswith("wait_") and key.endswith("_weighted"):
                assert within_class(value, expected), (address, fact, name, key, value, expected)
            else:
                scale = 3600 if key == "core_hours" else 1
                assert value * scale == pytest.approx(expected, rel=1e-9, abs=1e-9), (
                    address, fact, name, key,
                )  # fmt: skip
            compared += 1
    return compared


@pytest.fixture(scope="module")
def chapters(sample, tmp_path_factory):
    """Return the page of the sample with the chapters that follow a selection."""
    path = tmp_path_factory.mktemp("chapters") / "page.html"
    path.write_text(html(sample[0].report(FOLLOWING, explore=True)), encoding="utf-8")
    return path


FACTS_OF_CLASSES = (
    "users.by_cpu", "users.by_jobs", "queues.by_cpu", "sizes.by_cpu", "requests.by_cpu", "hours.by_cpu",
    "weekdays.by_cpu", "months.by_cpu", "outcomes.by_cpu", "wait.by_hour", "wait.by_request",
)  # fmt: skip


def test_chapters_follow_a_selection_with_the_facts_of_that_part(context, chapters, sample):
    page, wrong = visit(context, chapters)
    rng, known, compared = random.Random(4), about(page), 0
    for _ in range(8):
        address, part = selection(rng, sample[0], known)
        if part is not None:
            compared += check_chapters(page, address, part, FACTS_OF_CLASSES)
    assert compared > 500
    assert not [text for text in wrong if not text.startswith(("data:", "blob:"))]


def test_jobs_that_did_not_complete_are_told_of_each_user_of_a_selection(context, chapters, sample):
    page, _ = visit(context, chapters)
    users = [row["id"] for row in sample[0].facts("jobs.ended_by_user")["jobs.ended_by_user"]][:2]
    part = sample[0].filter(f"user_id in ({', '.join(map(literal, users))})")
    assert check_chapters(page, f"#user={','.join(users)}", part, ["jobs.ended_by_user"]) > 5


def test_all_of_a_selection_goes_when_it_is_cleared(context, chapters):
    page, _ = visit(context, chapters)
    settled(page)
    everything = "document.getElementById('content').innerText"
    for details in page.locator("main details").all():
        details.evaluate("one => { one.open = true }")
    page.locator("#figure-waits svg").wait_for()
    before = page.evaluate(everything)
    page.locator('[data-pick="user"]').first.click()
    settled(page)
    assert page.evaluate(everything) != before
    page.keyboard.press("Escape")
    settled(page)
    assert page.evaluate(everything) == before


def test_a_selection_that_is_dropped_and_made_again_at_once_leaves_nothing_behind(context, chapters):
    """Each begins before the chapters have followed the one before."""
    page, _ = visit(context, chapters)
    settled(page)
    everything = "document.getElementById('content').innerText"
    before = page.evaluate(everything)
    first = "document.querySelector('[data-pick=\"user\"]').click()"
    page.evaluate("async () => {" + "; ".join([first] * 6) + "}")
    settled(page)
    assert page.evaluate(everything) == before
    page.evaluate("async () => {" + "; ".join([first] * 5) + "}")
    settled(page)
    chosen = page.evaluate(everything)
    assert chosen != before
    page.evaluate("() => {" + "; ".join([first] * 2) + "}")
    settled(page)
    assert page.evaluate(everything) == chosen


def test_what_is_of_all_jobs_says_so_while_a_part_is_selected(context, chapters):
    page, _ = visit(context, chapters)
    label = "place => getComputedStyle(place, '::before').content"
    run_times, users = page.locator("#run-times .section-body"), page.locator("#users .section-body")
    assert run_times.evaluate(label) == "none"
    page.evaluate(SET, "#size=1")
    assert run_times.evaluate(label) == '"Of all jobs"'
    assert users.evaluate(label) == "none"
    settled(page)
    expect(page.locator("#waits .said:not([hidden])")).to_have_count(1)
    expect(page.locator("#waits .said.of-selection")).to_contain_text("one in twenty")


def test_a_figure_of_a_selection_shows_its_jobs(context, chapters, sample):
    page, _ = visit(context, chapters)
    user = sample[0].sql("select user_id from jobs group by all order by count(*) desc, 1 limit 1").user_id[0]
    page.evaluate(SET, f"#user={user}")
    settled(page)
    days = page.evaluate("figures.shown.get('figure-arrivals').data.lines[0].y")
    (jobs,) = sample[0].sql(f"select count(*) as n from jobs where user_id = {literal(user)}").n
    assert sum(days) == jobs
    assert 0 < jobs < sample[0].facts("trace.jobs")["trace.jobs"]


def test_what_is_seen_closer_is_seen_so_in_all_pictures_over_time_and_in_the_address(context, chapters):
    page, _ = visit(context, chapters)
    for details in page.locator("main details").all():
        details.evaluate("one => { one.open = true }")
    page.locator("#figure-arrivals [data-zoom='0.5']").click()
    whole = page.locator("#figure-utilization [data-zoom='whole']")
    expect(whole).to_be_enabled()
    assert "zoom=" in page.url
    other = context.new_page()
    other.goto(page.url)
    for details in other.locator("main details").all():
        details.evaluate("one => { one.open = true }")
    expect(other.locator("#figure-utilization [data-zoom='whole']")).to_be_enabled()
    whole.click()
    assert "zoom=" not in page.url
    expect(page.locator("#figure-arrivals [data-zoom='whole']")).to_be_disabled()


def test_a_link_to_a_part_is_reached_by_keys_and_keeps_the_selection(context, chapters):
    page, _ = visit(context, chapters)
    link = page.locator("#waits-by-class > .anchor")
    assert link.evaluate("one => getComputedStyle(one).opacity") == "0"
    link.focus()
    expect(link).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#waits-by-class$"))
    page.evaluate(SET, "#size=1")
    link.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#size=1&at=waits-by-class$"))
    other = context.new_page()
    other.goto(page.url)
    expect(other.locator("#waits-by-class")).to_be_in_viewport()
    expect(other.locator("#explorer-chips .chip")).to_have_count(1)


@pytest.fixture
def opened(context, sample):
    """Return the page of the sample, on which nothing may go wrong."""
    page, wrong = visit(context, sample[1])
    expect(page.locator("#explorer")).to_be_visible()
    yield page
    assert not [text for text in wrong if not text.startswith(("data:", "blob:"))]


def about(page):
    """Return what the page knows that it can be asked for."""
    return json.loads(
        page.locator("#explorer-about").inner_text()
        or page.evaluate("document.getElementById('explorer-about').textContent")
    )


def condition(trace, dimension: Dimension, names) -> str:
    """Return the SQL of the jobs of the classes called *names*."""
    classes = dimension.of(trace.store)
    assert classes is not None
    if classes.names is None:
        return f"({classes.key}) in ({', '.join(map(literal, names))})"
    keys = [repr(key) for key, name in classes.names.items() if name in names]
    return f"({classes.key}) in ({', '.join(keys)})"


def selection(rng, trace, known):
    """Return a random address, and the part of *trace* that it is of: None where that has no job."""
    parts, where, period = [], [], None
    of_key = {one.heading: one for one in recorded(trace.store)}
    choices = [choice for choice in known["choices"] if choice["names"]]
    for choice in rng.sample(choices, min(len(choices), rng.randint(0, 3))):
        names = rng.sample(choice["names"], min(len(choice["names"]), rng.randint(1, 3)))
        parts.append(f"{choice['key']}={','.join(quote(name, safe='') for name in names)}")
        where.append(condition(trace, of_key[choice["heading"]], names))
    days = known["last_day"] - known["first_day"]
    if days > 3 and (rng.random() < 0.6 or not parts):
        first, last = sorted(rng.sample(range(days), 2))
        moments = [known["first_day"] + first, known["first_day"] + last]
        if known["is_relative"]:
            parts += [f"from={moments[0] + 1}", f"to={moments[1] + 1}"]  # days count from 1
            period = f"{moments[0] + 1}..{moments[1]}"
        else:
            dates = [EPOCH + timedelta(days=moment) for moment in moments]
            parts += [f"from={dates[0]}", f"to={dates[1]}"]
            period = f"{dates[0]}..{dates[1] - timedelta(days=1)}"
    try:
        return f"#{'&'.join(parts)}", trace.filter(" and ".join(where) or None, period=period)
    except TraceError:
        return f"#{'&'.join(parts)}", None


def check(page, address, part):
    """Compare what *page* shows at an *address* with the facts of a *part* of the trace."""
    page.evaluate(SET, address)
    shown = page.evaluate(READ)
    if part is None:
        assert shown["trace.jobs"] == 0, address
        return
    facts = {name: value for prefix in COMPARED for name, value in part.facts(prefix).items()}
    assert shown.pop("trace.jobs") == facts["trace.jobs"], address
    if part.store.has("run_time"):
        check_hours(shown, facts, address)


def check_hours(shown, facts, address):
    """Compare the parts of the bars with *facts*, or their sums where these are told apart otherwise."""
    others = {"others", "budget.unused", "budget.outages"}
    ours = {name: value for name, value in shown.items() if name not in others and "gpu" not in name}
    assert sum(ours.values()) == pytest.approx(facts.get("budget.used") or 0.0, rel=1e-9, abs=1e-6), address
    if facts.get("budget.unfinished") is not None:
        bad = sum(shown.get(name, 0.0) for name in BAD)
        assert bad == pytest.approx(facts["budget.unfinished"], rel=1e-9, abs=1e-6), address
    for name, value in shown.items():
        if facts.get(name) is not None:
            assert value == pytest.approx(facts[name], rel=1e-9, abs=1e-6), (address, name)


def within_class(value, fact):
    """Whether a quantile of classes is in the half octave of that of *fact*, or neither is known."""
    if value is None or fact is None:
        return value is None and fact is None
    return value <= 1 if fact < 1 else abs(math.log2(max(value, 0.5) / fact)) <= HALF_OCTAVE


def test_any_selection_shows_the_facts_of_that_part(opened, sample):
    trace, _ = sample
    rng, known = random.Random(11), about(opened)
    for _ in range(12):
        check(opened, *selection(rng, trace, known))


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_any_selection_of_a_real_log_shows_the_facts_of_that_part(name, context, tmp_path):
    log = REAL[name]
    if log is None:
        pytest.skip(f"the log {name} is not beside the project")
    options = ReadOptions(format_options={"columns": COLUMNS} if log.name == "sacct.txt" else {})
    with Trace(open_trace([log], options=options), name) as trace:
        path = tmp_path / "page.html"
        path.write_text(html(trace.report(FOLLOWING, explore=True)), encoding="utf-8")
        page, _ = visit(context, path)
        expect(page.locator("#explorer")).to_be_visible()
        rng, known = random.Random(5), about(page)
        for turn in range(50):
            address, part = selection(rng, trace, known)
            check(page, address, part)
            if part is not None:
                check_chapters(page, address, part, FACTS_OF_CLASSES if turn % 10 == 0 else ["users.by_cpu"])


GPU_LOG = "JobID|User|Account|Submit|Start|End|ElapsedRaw|State|NNodes|AllocCPUS|AllocTRES|AdminComment"


def gpu_log(folder, *, is_measured=True):
    """Write a log of jobs with GPUs in 30 days, of which two in three are measured; return the file."""
    rng, lines = random.Random(7), [GPU_LOG]
    for job in range(600):
        submit, gpus = 1_760_000_000 + 4320 * job, rng.choice([0, 1, 2, 4])
        end = submit + 60 + rng.randrange(600, 90_000)
        uses = [rng.choice([0.0, rng.uniform(1, 100)]) for _ in range(gpus)]
        comment = summary(node(1000.0, uses=uses)) if is_measured and job % 3 else ""
        tres = f"cpu=4,mem=8G,node=1,gres/gpu={gpus}" if gpus else "cpu=4,mem=8G,node=1"
        times = f"{submit}|{submit + 60}|{end}|{end - submit - 60}|COMPLETED"
        lines.append(f"{job}|u{job % 7}|p{job % 4}|{times}|1|4|{tres}|{comment}")
    path = folder / "gpus.sacct"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def gpu_trace(tmp_path, request):
    """Return a trace with GPUs."""
    with gwa.open(gpu_log(tmp_path, is_measured=getattr(request, "param", True))) as trace:
        yield trace


def test_what_is_known_of_gpus_is_the_facts_of_any_part(context, gpu_trace, tmp_path):
    page, wrong = visit(context, page_of(gpu_trace, tmp_path))
    expect(page.locator("#explorer")).to_be_visible()
    shown, rng = page.evaluate(READ), random.Random(3)
    facts = gpu_trace.facts("gpu.budget")
    for name in ("computed", "still", "unmeasured"):
        assert shown[f"gpu.budget.{name}"] == pytest.approx(facts[f"gpu.budget.{name}"])
        assert shown[f"gpu.budget.{name}"] > 0
    for _ in range(10):
        check(page, *selection(rng, gpu_trace, about(page)))
    assert not [text for text in wrong if not text.startswith(("data:", "blob:"))]


def test_a_click_on_whose_gpus_did_not_compute_chooses_them(context, gpu_trace, tmp_path):
    page, _ = visit(context, page_of(gpu_trace, tmp_path))
    page.locator('#explorer-by button[value="gpu"]').click()
    page.locator(".used .switch button >> text=projects").click()
    first = page.locator(".list.lost li button").first
    name = first.locator(".name").inner_text()
    rows = gpu_trace.sql(
        "select project_id as name, sum((1 - gpu_utilization) * n_gpus * run_time) as still from jobs"
        " where gpu_utilization >= 0 group by all order by still desc"
    )
    assert name == rows.name[0]
    first.click()
    assert f"project={name}" in page.evaluate("location.hash")
    part = gpu_trace.filter(f"project_id = '{name}'").facts("gpu.budget")
    assert page.evaluate(READ)["gpu.budget.still"] == pytest.approx(part["gpu.budget.still"])


@pytest.mark.parametrize("gpu_trace", [False], indirect=True)
@pytest.mark.parametrize("width", [380, 1440])
def test_where_no_gpu_is_measured_the_page_says_how_it_would_be(context, gpu_trace, tmp_path, width):
    page, _ = visit(context, page_of(gpu_trace, tmp_path))
    page.set_viewport_size({"width": width, "height": 900})
    expect(page.locator("#lead-gpus-sentence")).to_contain_text("whether they computed is not recorded")
    page.locator('#explorer-by button[value="gpu"]').click()
    block = page.locator(".list.lost")
    expect(block).to_contain_text("--measurements FILE")
    assert block.locator("li").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_bar_of_gpus_keeps_nobody_out_and_fits(context, gpu_trace, tmp_path, scheme):
    page, _ = visit(context, page_of(gpu_trace, tmp_path))
    page.emulate_media(color_scheme=scheme)
    for width in (380, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page, context=".head").response["violations"]
    assert [violation["id"] for violation in found] == []


def test_jobs_that_nothing_tells_apart_are_shown_all_the_same(context, tmp_path):
    """One user, one size, no queue and no waits: there is nothing to choose."""
    log = tmp_path / "one.csv"
    rows = (f"ada,2026-01-{day:02}T08:00:00Z,7200,2,1\n" for day in range(1, 21))
    log.write_text("user,submit_time,run_seconds,cores,gpus\n" + "".join(rows))
    with gwa.open(log) as trace:
        page, errors = visit(context, page_of(trace, tmp_path))
    assert not errors
    assert page.locator('[data-fact="trace.jobs"]').first.get_attribute("data-value") == "20"
    expect(page.locator("#lead-sentence")).to_contain_text("20 jobs held 80 processor-hours")
    assert page.locator("#explorer-strip svg").count() >= 1


def test_a_log_without_gpus_has_no_bar_of_them(opened):
    expect(opened.locator("#lead-gpus-sentence")).to_have_count(0)


def test_the_whole_log_shows_its_facts_exactly(opened, sample):
    trace, _ = sample
    shown = opened.evaluate(READ)
    facts = trace.facts("budget") | trace.facts("trace.jobs")
    for name, value in shown.items():
        if name not in BAD:
            assert facts[name] == pytest.approx(value, rel=1e-12), name
    assert {"trace.jobs", "budget.finished", "budget.unused"} <= set(shown)


def sentence_of(page, address):
    """Return what the page says first at an *address*, without what only keeps words together."""
    page.evaluate(SET, address)
    return page.locator("#lead-sentence").inner_text().replace("\u00a0", " ").replace("\n", " ")


def test_the_sentence_of_a_selection_is_that_of_the_report(opened, sample):
    trace, _ = sample
    whole, rng = budget(trace.store), random.Random(2)
    names = next(choice["names"] for choice in about(opened)["choices"] if choice["key"] == "user")
    for count in (1, 1, 1, 1, 2, 2, 3, 5):
        chosen = rng.sample(names, count)
        part = trace.filter(f"user_id in ({', '.join(map(literal, chosen))})")
        found = replace(budget(part.store), is_told=whole.is_told, is_bound=whole.is_bound)
        said = sentence_of(opened, f"#user={','.join(chosen)}")
        ordered = [name for name in names if name in chosen] if count > 1 else chosen
        expected = {selection_sentence(ordered, found, whole), selection_sentence(chosen, found, whole)}
        assert said in expected, (said, expected)
    assert sentence_of(opened, "#") == budget_sentence(whole)


def test_the_sentence_of_a_period_is_that_of_its_report(opened, sample):
    trace, _ = sample
    rng, known, compared = random.Random(8), about(opened), 0
    for _ in range(6):
        first, last = sorted(rng.sample(range(known["last_day"] - known["first_day"]), 2))
        days = [EPOCH + timedelta(days=known["first_day"] + day) for day in (first, last)]
        part = budget(trace.filter(period=f"{days[0]}..{days[1] - timedelta(days=1)}").store)
        said = sentence_of(opened, f"#from={days[0]}&to={days[1]}").partition(": ")[2]
        if part.kind == "machine":
            expected = str(budget_sentence(part))
            assert said == expected[:1].lower() + expected[1:]
            compared += 1
    assert compared > 2


def test_a_machine_that_grew_is_told_of_in_each_period(context, tmp_path):
    log = months_log(tmp_path)
    described = log.with_suffix(".toml")
    described.write_text("cpus = 40\n[[size]]\nsince = 2024-02-10T12:00:00Z\ncpus = 64\n")
    with gwa.open(log) as trace:
        opened, _ = visit(context, page_of(trace, tmp_path))
        for first, last in (("01-20", "01-31"), ("02-01", "02-20"), ("03-01", "03-09")):
            part = budget(trace.filter(period=f"2024-{first}..2024-{last}").store)
            until = date.fromisoformat(f"2024-{last}") + timedelta(days=1)
            said = sentence_of(opened, f"#from=2024-{first}&to={until}").partition(": ")[2]
            expected = str(budget_sentence(part))
            assert said == expected[:1].lower() + expected[1:]
    assert "→" in opened.locator("#explorer-strip").inner_text()


READ_WAITING = """
() => {
  const told = (one) => one.textContent.replace(/\\s+/g, " ").trim();
  const parts = [...document.querySelectorAll("#waiting-bar i")];
  return [parts.map((part) => [part.className, Number(part.dataset.value)]),
    told(document.querySelector("#waiting-captions")), told(document.querySelector("#waiting-said"))];
}
"""


def check_waiting(page, address, part):
    """Compare what is said of waiting at an *address* with what is known of that *part*; return the parts."""
    page.evaluate(SET, address)
    parts, captions, said = page.evaluate(READ_WAITING)
    bar = waiting_bar(part.store)
    assert bar is not None
    assert parts == [[f"met-{name}", pytest.approx(share)] for name, share, _ in bar.parts], address
    names = dict(bar.names)
    assert captions == " ".join(
        f"{text} {names[name]}" for name, share, text in bar.parts if share >= 0.005
    ), address
    assert said == " ".join(bar.said), address
    return parts


def crowded_log(folder, *, numbers=1, cpus="; MaxProcs: 32"):
    """Write a log of jobs that start in the order of submission, every so many *numbers*; return the file."""
    path, jobs = folder / "crowded.swf", simulated(size=900, days=40)
    head = (*([cpus] if cpus else []), "; UnixStartTime: 852076800", "; TimeZoneString: UTC")
    columns = [
        jobs[name] for name in ("job_id", "submit_time", "wait_time", "run_time", "n_procs", "user_id")
    ]
    rows = (
        f"{numbers * job} {submit - 852076800:.0f} {wait:.0f} {run:.0f} {size} -1 -1 {size} -1 -1 1"
        f" {user[1:]} 1 -1 {size % 3} -1 -1 -1"
        for job, submit, wait, run, size, user in zip(*columns, strict=True)
    )
    path.write_text("\n".join((*head, *rows, "")))
    return path


@pytest.mark.parametrize("kind", ["values", "rows are missing", "size not stated"])
def test_while_jobs_of_any_selection_waited_is_told_as_of_that_part(kind, context, tmp_path):
    numbers, cpus = (
        2 if kind == "rows are missing" else 1,
        "" if kind == "size not stated" else "; MaxProcs: 32",
    )
    rng, told = random.Random(3), 0
    with gwa.open(crowded_log(tmp_path, numbers=numbers, cpus=cpus)) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
        expect(page.locator("#waiting")).to_be_visible()
        known = about(page)
        for _ in range(15):
            address, part = selection(rng, trace, known)
            if part is not None:
                told += bool(check_waiting(page, address, part))
        assert check_waiting(page, "#", trace)
    assert told > 3


READ_LISTS = r"""
() => {
  const of = (root) => [...root.querySelectorAll(".list")].map((list) => [
    list.querySelector("h2").textContent, list.querySelector(".sub")?.textContent ?? "",
    [...list.querySelectorAll("ol > li")].map((row) => [
      row.querySelector(".name").textContent, row.querySelector(".share").textContent.replace("\u00a0", " "),
      [...row.querySelectorAll("i, b")].map(({ style }) => [style.left, style.width, style.background]),
    ])]);
  const texts = [...document.querySelectorAll("noscript")].map((one) => one.textContent);
  const held = new DOMParser().parseFromString(texts.find((text) => text.includes("lists")), "text/html");
  return [of(document.querySelector("#explorer-lists")), of(held)];
}
"""


def alike(page):
    """Return the lists that the script makes, after it is seen that those in the file are the same."""
    drawn, still = page.evaluate(READ_LISTS)
    for one, other in zip(still, drawn, strict=True):
        assert one == other
    assert len(drawn) > 1
    return drawn


def test_without_scripts_the_lists_are_those_that_they_make(context, opened, tmp_path):
    assert any(rows for _, _, rows in alike(opened))
    log = months_log(tmp_path)
    text = log.read_text()
    changed = {
        "of a bound": re.sub(r"(?m)^((?:\S+ ){10})0 ", r"\g<1>1 ", text),
        "of nobody": re.sub(r"(?m)^((?:\S+ ){11})\S+ 1 2 \S+ ", r"\g<1>1 1 2 1 ", text),
        "without ends": re.sub(r"(?m)^((?:\S+ ){10})\S+ ", r"\g<1>-1 ", text),
        "without waits": re.sub(r"(?m)^((?:\S+ ){2})\S+ ", r"\g<1>-1 ", text),
        "without processors": re.sub(r"(?m)^((?:\S+ ){4})\S+ ", r"\g<1>-1 ", text),
    }
    for name, other in changed.items():
        log.write_text(other)
        with gwa.open(log) as trace:
            page, _ = visit(context, page_of(trace, tmp_path))
        assert alike(page), name


def months_log(folder):
    """Write a log of a machine of 64 processors that is busy for four months; return the file."""
    rng, path = random.Random(9), folder / "months.swf"
    head = ("; MaxProcs: 64", "; UnixStartTime: 1704067200", "; TimeZoneString: UTC")
    rows = (
        f"{n} {7200 * n} {rng.randrange(3600)} {rng.randrange(60, 30000)} {rng.randrange(1, 16)} -1 -1 4 -1"
        f" -1 {rng.choice((0, 1, 1, 1, 5))} {rng.randrange(1, 9)} 1 2 {rng.randrange(1, 4)} 1 -1 -1"
        for n in range(1440)
    )
    path.write_text("\n".join((*head, *rows, "")))
    return path


def test_a_month_is_chosen_by_a_click_and_dropped_by_another(context, tmp_path):
    with gwa.open(months_log(tmp_path)) as trace:
        opened, _ = visit(context, page_of(trace, tmp_path))
    month = opened.locator("#lead-months button").nth(1)
    name = month.locator(".name").inner_text()[:7]
    numbers = month.locator(".values span").all_inner_texts()
    month.click()
    assert f"from={name}-01" in opened.url
    expect(opened.locator("#explorer-chips .chip")).to_have_count(1)
    expect(opened.locator('#lead-months button[aria-pressed="true"]')).to_have_count(1)
    said = opened.locator("#lead-sentence").inner_text()
    assert all(number in said for number in numbers[:2] if number != "0")
    opened.locator("#lead-months button").nth(1).click()
    expect(opened.locator("#explorer-chips .chip")).to_have_count(0)


def test_of_a_bound_no_number_is_shown_as_a_value(context, tmp_path):
    """The log has no code for jobs that failed: in each month at most so much finished."""
    log = months_log(tmp_path)
    log.write_text(re.sub(r"(?m)^((?:\S+ ){10})0 ", r"\g<1>1 ", log.read_text()))
    with gwa.open(log) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
    user = about(page)["choices"][0]["names"][0]
    for address in ("", f"#user={user}"):
        if address:
            page.evaluate(SET, address)
        finished, unfinished = (
            page.locator(f"#lead-months .values span:nth-child({n})").all_inner_texts() for n in (1, 2)
        )
        assert all(text.startswith("≤") for text in finished), (address, finished)
        assert all(text.startswith("≥") for text in unfinished), (address, unfinished)
    expect(page.locator(".list.lost .sub")).to_contain_text("at least")


def test_where_nobody_is_told_apart_no_list_says_who(context, tmp_path):
    """One user and one queue: jobs have sizes, which are nobody."""
    log = months_log(tmp_path)
    log.write_text(re.sub(r"(?m)^((?:\S+ ){11})\S+ 1 2 \S+ ", r"\g<1>1 1 2 1 ", log.read_text()))
    with gwa.open(log) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
    expect(page.locator(".list.lost h2")).to_have_text("Which jobs did not finish")
    assert "Who used it" not in page.locator("#explorer-lists").inner_text()
    page.locator(".list.waited li button").first.click()
    expect(page.locator(".head .summary [data-fact='trace.jobs']")).to_contain_text("/ 1,440")


def test_anybody_is_found_by_a_part_of_a_name(opened):
    names = next(choice["names"] for choice in about(opened)["choices"] if choice["key"] == "user")
    for name in (names[0], names[-1]):
        opened.keyboard.press("/")
        opened.keyboard.type(name)
        expect(opened.locator("#explorer-hits button").first).to_contain_text(name)
        opened.keyboard.press("Enter")
        assert f"user={name}" in opened.url
        opened.keyboard.press("Escape")
        opened.keyboard.press("Escape")
    opened.locator("#explorer-find").fill("nobody of this name")
    expect(opened.locator("#explorer-hits")).to_contain_text("is not in this log")
    opened.locator("#explorer-find").fill("wait")
    opened.locator("#explorer-hits button", has_text="section").first.click()
    expect(opened.locator("#waits")).to_be_in_viewport()


def test_who_is_said_to_hold_most_holds_it_in_the_list_too(opened, sample):
    trace, _ = sample
    most = trace.facts("users.by_held")["users.by_held"]
    listed = opened.locator('.used [data-pick="user"]').evaluate_all(
        "all => all.map((one) => [one.querySelector('.name').textContent, one.dataset.value])"
    )
    for row, (name, hours) in zip(most, listed, strict=False):
        assert name == row["id"]
        assert float(hours) * 3600 == pytest.approx(row["held_seconds"], rel=1e-6)


def test_marks_of_the_strip_are_in_its_legend(context, tmp_path):
    """A machine that stands still for ten days, in a log of jobs that start at once."""
    log = tmp_path / "outage.swf"
    days = [*range(30), *range(40, 80)]
    rows = [f"{day} {86400 * day} 0 80000 4 -1 -1 4 -1 -1 1 {day % 3 + 1} 1 1 1 1 -1 -1" for day in days]
    log.write_text("\n".join(("; MaxProcs: 4", "; UnixStartTime: 1000000000", *rows, "")))
    with gwa.open(log) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
    marks = {mark["kind"] for mark in about(page)["marks"]}
    words = json.loads(page.evaluate("document.getElementById('explorer-words').textContent"))["marks"]
    assert marks
    legend = page.locator("#explorer-legend")
    for kind in marks:
        look = "outage" if kind == "outage" else "gap"
        expect(legend.locator(f"span:has(i.{look})")).to_have_text(words[kind])


def test_a_gap_that_the_log_does_not_explain_is_not_marked_as_an_outage(context, tmp_path):
    """An outage for which jobs wait, and two weeks in which nothing is submitted and nothing runs."""
    log = tmp_path / "gaps.swf"
    rows = []
    for number, hour in enumerate((*range(24 * 14), *range(24 * 28, 24 * 60)), 1):
        wait = 86400 - hour % 24 * 3600 if 24 * 40 <= hour < 24 * 41 else 0
        rows.append(f"{number} {3600 * hour} {wait} 3000 4 -1 -1 4 -1 -1 1 {hour % 3 + 1} 1 1 1 1 -1 -1")
    log.write_text("\n".join(("; MaxProcs: 8", "; UnixStartTime: 1000000000", *rows, "")))
    with gwa.open(log) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
    assert {mark["kind"] for mark in about(page)["marks"]} == {"outage", "still"}
    legend = page.locator("#explorer-legend")
    expect(legend.locator("span:has(i.outage)")).to_have_text("outage")
    expect(legend.locator("span:has(i.gap)")).to_have_text("nothing recorded")
    for look in ("outage", "gap"):
        assert page.locator(f'#explorer-strip path[fill="var(--{look})"]').get_attribute("d")


def test_on_paper_names_are_whole_and_nothing_is_left_to_open(context, chapters):
    page, _ = visit(context, chapters)
    page.set_viewport_size({"width": 665, "height": 900})  # what A4 is wide between its margins
    page.emulate_media(media="print")
    cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"
    assert page.locator("#explorer-lists .name").evaluate_all(cut) == []
    assert page.locator("main details:not([open]) > summary:visible").all_inner_texts() == []
    tall = "box => [box.clientHeight, box.querySelector('svg').getBoundingClientRect().height]"
    box, drawn = page.locator("#explorer-strip .drawn").evaluate(tall)
    assert box == pytest.approx(drawn, abs=1)
    plain = page.locator('#explorer-by [aria-pressed="true"]').evaluate(
        "one => getComputedStyle(one).backgroundColor"
    )
    assert plain == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("width", [320, 380])
def test_a_long_name_in_a_list_is_cut_before_its_share(width, opened):
    opened.set_viewport_size({"width": width, "height": 900})
    gaps = opened.locator("#explorer-lists [data-pick]").evaluate_all(
        """all => all.map((one) => {
          const [name, share] = [one.querySelector(".name"), one.querySelector(".share")];
          name.textContent = "a name of more letters than there is room for";
          return share.getBoundingClientRect().left - name.getBoundingClientRect().right;
        })"""
    )
    assert gaps
    assert min(gaps) > 0


def test_a_click_chooses_and_its_chip_drops_it(opened):
    row = opened.locator('[data-pick="user"]').first
    name = row.locator(".name").inner_text()
    row.click()
    expect(opened.locator("#explorer-chips .chip")).to_contain_text(name)
    assert f"user={name}" in opened.url
    expect(opened.locator('.used [data-pick="user"][aria-pressed="true"]')).to_have_count(1)
    opened.go_back()
    expect(opened.locator("#explorer-chips .chip")).to_have_count(0)
    opened.go_forward()
    opened.locator("#explorer-chips .chip").click()
    expect(opened.locator("#explorer-chips .chip")).to_have_count(0)
    assert "user=" not in opened.url


def test_names_in_tables_choose_as_lists_do_by_click_and_by_keys(context, chapters):
    page, wrong = visit(context, chapters)
    page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
    names = page.locator('.block.table[data-name="outcomes-users"] .pick')
    assert names.count() > 1
    name = names.first.inner_text()
    names.first.click()
    expect(page.locator("#explorer-kept .chip")).to_contain_text(name)
    assert f"user={name}" in page.url
    settled(page)
    expect(names).to_have_count(1)
    expect(names).to_be_focused()
    expect(names).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.locator("#explorer-kept")).to_be_empty()
    settled(page)
    expect(page.locator('.pick[aria-pressed="true"]')).to_have_count(0)
    row = page.locator("#explorer-lists button[data-pick]").first
    row.press("Space")
    expect(page.locator("#explorer-chips .chip")).to_contain_text(row.locator(".name").inner_text())
    assert not [text for text in wrong if not text.startswith(("data:", "blob:"))]


def test_what_is_no_name_of_a_list_is_text(context, chapters):
    page, _ = visit(context, chapters)
    picks = page.locator("main .pick").evaluate_all(
        "all => all.map((one) => [one.dataset.pick, one.textContent])"
    )
    assert {"user", "queue", "size", "request"} <= {key for key, _ in picks}
    known = about(page)["choices"]
    names = {choice["key"]: choice["names"] for choice in known}
    assert all(name in names[key] for key, name in picks)
    assert not page.locator("main td.number .pick").count()


def test_clicks_in_one_list_are_alternatives_and_across_lists_conditions(opened):
    def jobs():
        return opened.evaluate(READ)["trace.jobs"]

    both = []
    for place in (0, 1):
        opened.locator('[data-pick="user"]').nth(place).click()
        both.append(jobs())
    assert both[1] > both[0] > 0
    opened.locator('[data-pick="size"]').first.click()
    assert jobs() < both[1]


def test_the_keyboard_chooses_days_and_escape_shows_all_again(opened):
    strip = opened.locator("#explorer-strip")
    strip.focus()
    opened.keyboard.press("Home")
    for _ in range(3):
        opened.keyboard.press("Shift+ArrowRight")
    assert "from=" in opened.url
    expect(opened.locator("#explorer-tip")).to_be_visible()
    expect(opened.locator("#explorer-chips .chip")).to_have_count(1)
    opened.keyboard.press("Escape")
    expect(opened.locator("#explorer-chips .chip")).to_have_count(0)


def test_the_day_that_the_keyboard_chooses_is_the_one_that_is_read(opened, sample):
    opened.locator("#explorer-strip").focus()
    opened.keyboard.press("Shift+Home")
    day = EPOCH + timedelta(days=about(opened)["first_day"])
    assert f"from={day}&to={day + timedelta(days=1)}" in opened.url
    assert opened.evaluate(READ)["trace.jobs"] == len(sample[0].filter(period=str(day)))


LONG = re.compile(r"\d{4,}[.,]?\d*|\d*\.\d{4,}|(?:\d,\d{3}|\d{3})\.\d|\d\d\.\d{2,}")
"""A number that has more than three digits and is not whole, or no sign between its thousands."""


def test_what_is_pointed_at_has_three_digits_and_stands_aligned(opened):
    """The strip said 1,298,558.668, 6,879.573333 and 0.7022222222 under each other."""
    opened.locator("#explorer-strip").focus()
    opened.keyboard.press("Home")
    for _ in range(12):
        opened.keyboard.press("ArrowRight")
        told = opened.locator("#explorer-tip data").all_inner_texts()
        assert not [text for text in told if LONG.search(text)]
        assert len({text.partition(".")[2].__len__() for text in told if text}) <= 1, told
    titles = opened.locator("#explorer-lists [title]").evaluate_all("all => all.map((one) => one.title)")
    assert titles
    assert not [title for title in titles if LONG.search(title.rpartition(": ")[2])]


def test_names_of_rows_are_written_as_the_log_has_them(opened):
    """A table had "Vqvu1" for the user "vqvu1"."""
    looks = opened.locator("#explorer .name").evaluate_all(
        "all => all.flatMap((one) => ['', '::first-letter'].map((part) =>"
        " getComputedStyle(one, part).textTransform))"
    )
    assert set(looks) == {"none"}


def test_dragging_over_the_strip_chooses_a_period(opened):
    box = opened.locator("#explorer-strip").bounding_box()
    opened.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 80)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + 80, steps=4)
    opened.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80, steps=4)
    opened.mouse.up()
    assert "from=" in opened.url
    assert "to=" in opened.url


def test_the_first_screen_is_the_instrument(opened):
    """The sentence, its bar, the strip and the lists stand in view on a screen of 1440 by 900."""
    opened.set_viewport_size({"width": 1440, "height": 900})
    parts = ("#lead-sentence", "#lead-bar", "#explorer-strip", "#explorer-lists .list >> nth=0")
    boxes = [opened.locator(part).first.bounding_box() for part in parts]
    assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
    assert boxes[3]["y"] + boxes[3]["height"] <= 900


def test_what_is_clicked_stays_where_it_is(opened):
    opened.set_viewport_size({"width": 1440, "height": 900})
    top = "document.querySelector('#explorer-lists').getBoundingClientRect().top"
    before = opened.evaluate(top)
    opened.locator('[data-pick="user"]').first.click()
    expect(opened.locator("#explorer-chips .chip")).to_have_count(1)
    assert opened.evaluate(top) == pytest.approx(before, abs=4)


def test_what_is_found_of_all_jobs_is_not_taken_for_a_part(context, chapters):
    page, _ = visit(context, chapters)
    said = "getComputedStyle(document.querySelector('.changed'), '::before').content"
    assert page.evaluate(said) == "none"
    page.locator('[data-pick="user"]').first.click()
    assert page.evaluate(said) == '"Of all jobs:"'


def test_shares_of_a_column_have_as_many_digits(opened):
    cells = opened.locator('.used [data-pick="user"] .share').all_inner_texts()
    assert len(cells) > 4
    assert all(re.fullmatch(r"(< 0\.1|> 99\.9|\d+\.\d)\s%", cell.replace("\u00a0", " ")) for cell in cells), (
        cells
    )


def test_what_the_page_does_not_have_is_said(opened):
    opened.evaluate(SET, "#user=nobody-of-this-name")
    expect(opened.locator(".notice")).to_contain_text("nobody-of-this-name")


def test_a_link_within_the_page_keeps_the_selection(opened):
    opened.locator('[data-pick="user"]').first.click()
    before = opened.url
    opened.locator(".contents a").first.click()
    assert opened.url == before
    expect(opened.locator("#explorer-chips .chip")).to_have_count(1)


@pytest.mark.parametrize("name", ["x,y", "r&d", "50%25", "zoë/ü+1"])
def test_a_link_to_any_name_shows_what_was_chosen(context, make_store, tmp_path, name):
    users = [name, "x", "y", "r"] * 30
    store = make_store(
        (("Times", "Unix seconds, UTC"), ("MaxProcs", "16")),
        submit_time=[1.7e9 + 3600 * job for job in range(120)],
        wait_time=[5.0] * 120,
        run_time=[600.0] * 120,
        n_procs=[4] * 120,
        status=[1] * 120,
        user_id=users,
    )
    page, wrong = visit(context, page_of(gwa.Trace(store, "made"), tmp_path))
    page.locator('[data-pick="user"]', has=page.get_by_text(name, exact=True)).first.click()
    link = page.evaluate("location.hash")
    page.evaluate(SET, "")
    expect(page.locator("#explorer-chips .chip")).to_have_count(0)
    page.evaluate(SET, link)
    expect(page.locator("#explorer-chips .chip bdi")).to_have_text([f"User: {name}"])
    assert page.evaluate(READ)["trace.jobs"] == 30
    assert not wrong


def test_an_address_without_a_selection_shows_everything(opened):
    opened.evaluate(SET, "#size=1")
    expect(opened.locator("#explorer-chips .chip")).to_have_count(1)
    opened.evaluate(SET, "#waits")
    expect(opened.locator("#explorer-chips .chip")).to_have_count(0)


def test_quantiles_of_rows_are_called_approximate(opened):
    """Each is that of classes of half octaves, also where no part is selected."""
    titles = opened.locator(".waited [data-pick]").evaluate_all("all => all.map((one) => one.title)")
    assert len(titles) > 2
    assert all("≈" in title or "< 1" in title.replace("\u00a0", " ") or ": 0" in title for title in titles), (
        titles
    )
    assert any("≈" in title for title in titles)


def test_the_rows_are_saved_as_csv(opened):
    with opened.expect_download() as saved:
        opened.locator('[data-save="csv"]').click()
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines[0].startswith("user,jobs,core_hours")
    assert len(lines) == 25


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_strip_is_saved_as_a_picture(kind, opened):
    with opened.expect_download() as saved:
        opened.locator(f'#explorer [data-save="{kind}"]').click()
    content = Path(saved.value.path()).read_bytes()
    assert content.startswith(b"<svg" if kind == "svg" else b"\x89PNG")
    assert kind == "png" or b"var(--" not in content


@pytest.mark.parametrize(("theme", "address"), [("light", ""), ("dark", "#size=1")])
def test_nothing_keeps_anybody_out(theme, address, opened):
    opened.emulate_media(color_scheme=theme)
    opened.evaluate(SET, address)
    found = Axe().run(opened).response["violations"]
    assert [(rule["id"], [node["html"][:120] for node in rule["nodes"]]) for rule in found] == []


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_it_is_never_wider_than_its_window_and_no_letter_is_small(width, opened):
    opened.set_viewport_size({"width": width, "height": 800})
    expect(opened.locator("#explorer-strip svg")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    sizes = opened.evaluate(SIZES_OF_LETTERS)
    assert min(sizes) >= 11


def test_german_words_stand_on_a_german_page(context, sample, tmp_path):
    trace, _ = sample
    german = read_language("de")
    file = tmp_path / "seite.html"
    report = translated(trace.report(["overview"], explore=True), german)
    file.write_text(html(report, language=german), encoding="utf-8")
    page, wrong = visit(context, file)
    shown = page.locator("#explorer").inner_text()
    assert "Kernstunden" in shown
    shown += "".join(page.locator(part).inner_text() for part in ("#lead", "#explorer-bar", "#waiting"))
    english = [
        "core-hours",
        "Of every",
        "finished",
        "unused",
        "processors",
        "Who used",
        "waited",
        "others",
        "waiting",
    ]
    assert [word for word in english if word in shown] == []
    assert not wrong


def test_lists_are_read_from_the_top_and_others_stand_last(context, tmp_path, monkeypatch):
    """Of seventy users fifty are told apart; the others together hold most, and stand last all the same."""
    monkeypatch.setattr(cube, "MAXIMUM_CELLS", 1000)
    log = tmp_path / "many.swf"
    rows = (
        f"{n} {3600 * n} 5 900 4 -1 -1 4 -1 -1 {int(n % 5 > 0)} {n % 70 + 1} 1 2 {n % 4 + 1} 1 -1 -1"
        for n in range(700)
    )
    log.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))
    with gwa.open(log) as trace:
        page, wrong = visit(context, page_of(trace, tmp_path))
    rows_shown = page.locator(".list.used li")
    expect(rows_shown).to_have_count(7)
    expect(page.locator(".list.used .sub")).to_contain_text("35 of 70")  # all hold alike
    page.locator(".list.used .more").click()
    assert rows_shown.count() > 7
    assert " others" in rows_shown.last.inner_text()
    page.locator(".list.used .more").click()
    expect(rows_shown).to_have_count(7)
    assert not wrong


@pytest.mark.parametrize(
    ("days", "hint"),
    [
        (1, "Click a row to choose."),
        (9, "Drag over time or click a row."),
    ],
)
def test_the_page_asks_for_clicks_that_it_can_answer(context, tmp_path, days, hint):
    log = tmp_path / "few.swf"
    rows = (f"{n} {n * 864 * days} 5 60 4 -1 -1 4 -1 -1 1 {n % 3 + 1} 1 1 1 1 -1 -1" for n in range(100))
    log.write_text("\n".join(("; MaxProcs: 16", "; UnixStartTime: 1000000000", *rows, "")))
    with gwa.open(log) as trace:
        page, _ = visit(context, page_of(trace, tmp_path))
    expect(page.locator("#explorer-chips")).to_have_text(hint)
    expect(page.locator("#explorer-from")).to_be_visible(visible=days > 2)


def test_without_scripts_the_first_picture_says_what_its_colours_are(browser, sample):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sample[1].as_uri())
    text = page.locator(".still-legend").inner_text()
    assert text.startswith("Core-hours a day")
    filled = page.locator("noscript svg path[fill], .head > svg path[fill]").evaluate_all(
        "all => all.map(one => one.getAttribute('fill'))"
    )
    named = page.locator(".still-legend i:not(.line)").evaluate_all(
        "all => all.map(one => one.getAttribute('style'))"
    )
    assert len(filled) == len(named) > 1
    assert all(
        look.partition("--")[2].startswith(fill.partition("--")[2].partition(",")[0])
        for fill, look in zip(filled, named, strict=True)
    )
    assert ("whole machine" in text) == bool(
        page.locator("noscript svg path[stroke-dasharray], .head > svg path[stroke-dasharray]").count()
    )
    context.close()


def test_on_paper_the_pictures_have_letters_of_their_size(opened):
    """A drawing as wide as a screen would be made smaller on paper, and its letters with it."""
    opened.set_viewport_size({"width": 1440, "height": 900})
    width = "Number(document.querySelector('#explorer-strip svg').getAttribute('width'))"
    opened.wait_for_function(f"{width} > 1000")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.evaluate(width) <= 17.6 / 2.54 * 96
    opened.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.evaluate(width) > 1000
