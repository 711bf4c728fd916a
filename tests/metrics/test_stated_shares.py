"""Shares of Slurm: the tree of sshare, divided as its raw shares say."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gwa.errors import DefinitionError
from gwa.metrics.stated_shares import read_shares

TEXT = """\
Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
root|||0.000000|97||
 root|root|1|0.25|0|0.0|1.0
 physics||2|0.5|97|1.0|
  theory||3|0.75|97|1.0|
   theory|ann|1|0.5|90|0.9|0.1
   theory|bob|1|0.5|7|0.1|0.2
  lab||1|0.25|0|0.0|
   lab|ann|parent|0.25|0|0.0|0.3
 bio||1|0.25|0|0.0|
  bio|cy|4|1.0|0|0.0|0.4
"""


def written(folder, text):
    path = folder / "shares.txt"
    path.write_text(text)
    return path


def test_an_account_divides_its_share_by_raw_shares(tmp_path):
    """Of 4 shares below root physics has 2, of which theory has 3 of 4; bob has half of that."""
    found = read_shares(written(tmp_path, TEXT))
    assert found.projects == pytest.approx({"theory": 3 / 8, "lab": 1 / 8, "bio": 1 / 4})
    assert found.users == pytest.approx({"root": 1 / 4, "ann": 3 / 16, "bob": 3 / 16, "cy": 1 / 4})


trees = st.recursive(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    lambda below: st.lists(st.tuples(st.integers(0, 9), below), min_size=1, max_size=3),
    max_leaves=8,
)


def lines_of(tree, depth, share, projects, users, account):
    """Yield the lines below an account, and note what each is to have, by fractions."""
    raws = [one[0] if isinstance(one, tuple) else one for one in tree]
    total = sum(raws)
    if not isinstance(tree[0], tuple) and share:
        projects[account] = share
    for number, (one, raw) in enumerate(zip(tree, raws, strict=True)):
        own = share * Fraction(raw, total) if total else Fraction(0)
        if isinstance(one, tuple):
            name = f"{account}{number}"
            yield f"{' ' * depth}{name}||{raw}|"
            yield from lines_of(one[1], depth + 1, own, projects, users, name)
        else:
            user = f"u{number}"
            yield f"{' ' * depth}{account}|{user}|{raw}|"
            if own:
                users[user] = users.get(user, 0) + own


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=trees)
def test_any_tree_is_divided_as_by_fractions(tmp_path, tree):
    projects: dict[str, Fraction] = {}
    users: dict[str, Fraction] = {}
    lines = ["Account|User|RawShares|NormShares", "a|||"]
    lines += lines_of(tree, 1, Fraction(1), projects, users, "a")
    assume(projects or users)
    found = read_shares(written(tmp_path, "\n".join(lines)))
    assert found.projects == pytest.approx({name: float(share) for name, share in projects.items()})
    assert found.users == pytest.approx({name: float(share) for name, share in users.items()})


def test_what_is_below_an_account_without_shares_stands_beside_it(tmp_path):
    text = TEXT.replace(" physics||2|", " physics||parent|")
    found = read_shares(written(tmp_path, text))
    assert found.projects == pytest.approx({"theory": 3 / 6, "lab": 1 / 6, "bio": 1 / 6})


def test_a_mark_of_windows_is_no_name(tmp_path):
    assert read_shares(written(tmp_path, "\ufeff" + TEXT)) == read_shares(written(tmp_path, TEXT))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no column Account"),
        ("Account|User|RawShares\na||1\nb||2\nc||3", "has 3 accounts that are in no other"),
        (f"Account|User|RawShares\nroot||\n a||{'9' * 5000}", "states no shares above 0"),
        ("Account User RawShares\nroot root 1", "has no column Account"),
        ("Account|User|RawShares\nroot||x", ":2: has no account with shares"),
        ("Account|User|RawShares\n||1", ":2: has no account with shares"),
        ("Account|User|RawShares\n", "states no shares above 0"),
    ],
)
def test_what_states_no_shares_is_refused(tmp_path, text, says):
    with pytest.raises(DefinitionError) as refused:
        read_shares(written(tmp_path, text))
    assert says in str(refused.value)
    assert "expected " in str(refused.value)
    assert "'sshare -a -P' prints" in str(refused.value)
