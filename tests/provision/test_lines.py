"""Every value of a TOML text has its line."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.lines import lines_of
from sessions_app.provision.reader import read

TRICKY = '''\
# [[no]]
title = "a # b = [1]" # "
"quoted \\u0041.key" = 'x"'

[[agent]]
slug = """
a = 1
\\""" [[b]] """""
route = [ # first
  "a/b", # ]

  'c/d',
]
inner = { x = 1, "y z" = [ {q = 2}, { q = 3 } ] }
a.b.c = 2020-01-02 03:04:05

  [agent.sub]
  z = ''

[[agent]]
slug = \'\'\'
\'\'\'\'
 [[ agent . "deep" ]]
n = -1.5e3
'''


def paths_of(value, path=()):
    """The paths of everything in a document."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from paths_of(item, (*path, key))
        else:
            yield (*path, key)


def test_every_path_has_its_line():
    lines = lines_of(TRICKY)
    assert set(lines) == set(paths_of(tomllib.loads(TRICKY)))
    assert lines[("quoted A.key",)] == 3
    assert lines[("agent", 0, "route", 1)] == 12
    assert lines[("agent", 0, "inner", "y z", 1, "q")] == 14
    assert lines[("agent", 0, "a", "b", "c")] == 15
    assert lines[("agent", 0, "sub", "z")] == 18
    assert lines[("agent", 1)] == 20
    assert lines[("agent", 1, "deep", 0, "n")] == 24


def test_windows_line_ends_count_once():
    assert lines_of("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


strings = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
values = st.recursive(
    strings.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"')
    | st.integers().map(str)
    | st.sampled_from(["true", "1.5", "'lit\"eral'", '""', '"""\n"x""""', "''''a'''"]),
    lambda inner: st.lists(inner, max_size=3).map(
        lambda items: "[ # [\n" + "".join(f"{item},\n" for item in items) + "]"
    ),
    max_leaves=5,
)


@given(st.lists(values, max_size=5))
def test_lines_hold_for_any_values(found):
    text = "".join(f"[[t]]\nk = {value}\n" for value in found)
    lines = lines_of(text)
    assert set(lines) == set(paths_of(tomllib.loads(text)))
    rows = text.split("\n")
    for index in range(len(found)):
        assert rows[lines[("t", index)] - 1] == "[[t]]"
        assert rows[lines[("t", index, "k")] - 1].startswith("k = ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = \n", 2),
        ("a = 1\na = 2\n", 2),
        ("\na = [1,\n2\n\n\n", 3),
        ("a = " + "[" * 5000, 1),
        ("\na = " + "9" * 5000, 1),
        ("a = 1\x00", 1),
    ],
)
def test_broken_toml_is_refused_with_its_line(text, line):
    with pytest.raises(ProvisionError) as caught:
        read(text)
    assert caught.value.line == line
