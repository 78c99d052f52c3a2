from __future__ import annotations

from decimal import Decimal

import pytest

from sessions_app.models import ApiKey, Budget
from sessions_app.provision import ProvisionError, apply
from sessions_app.store.budgets import Payer, applying
from tests.provision.conftest import WHOLE

pytestmark = pytest.mark.django_db

BUDGET = """\
[[budget]]
on = "key:ci"
period = "day"
usd = "5.00"
"""


def test_budget_of_the_file_counts_at_once():
    apply(WHOLE + BUDGET)
    assert Budget.objects.get().usd == Decimal(5)
    caller = f"key:{ApiKey.objects.get().pk}"
    ((limit, subject),) = applying(Payer(caller, "helper", "sess_1"))
    assert (limit.amount, subject) == (5 * 10**12, caller)
    assert not apply(WHOLE + BUDGET).has_changes


@pytest.mark.parametrize("on", ["agent:helper", "embed:pk_shop", "visitor", "session"])
def test_every_target_of_the_contract_is_known(on):
    apply(WHOLE + BUDGET.replace("key:ci", on) + "tokens = 100000\n")
    assert Budget.objects.get(on=on).tokens == 100_000


def test_pruned_budget_counts_no_more():
    apply(WHOLE + BUDGET)
    apply(WHOLE, prune=True)
    assert not Budget.objects.get().is_enabled
    assert applying(Payer("key:1", "helper", "sess_1")) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("key:ci", "key:nobody", "There is no key 'nobody'"),
        ("key:ci", "agent:nobody", "There is no agent 'nobody'"),
        ("key:ci", "embed:pk_no", "There is no embed 'pk_no'"),
        ("key:ci", "key:", "must be key:NAME"),
        ("key:ci", "session:x", "must be key:NAME"),
        ("key:ci", "all", "must be key:NAME"),
        ('"day"', '"week"', "write one of: day, month, total"),
        ('usd = "5.00"\n', "", "needs the key 'usd' or 'tokens'"),
        ('"5.00"', "5.0", "must stand in quotes"),
        ('"5.00"', '"-1"', "must not be negative"),
        ('"5.00"', '"1000001"', "must be from 0 to 1,000,000"),
        ('usd = "5.00"', "tokens = -1", "must be from 0"),
        ('usd = "5.00"', 'usd = "1"\nfallback_input = "1"', "together"),
    ],
)
def test_bad_budget_is_refused(old, new, sentence):
    with pytest.raises(ProvisionError, match=sentence):
        apply(WHOLE + BUDGET.replace(old, new))
    assert not Budget.objects.exists()
