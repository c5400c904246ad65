"""Plans: what many metrics ask for, joined."""

from __future__ import annotations

import tallymark as tm
from tallymark.data.target import ANY_TARGET
from tallymark.states.base import Plan
from tallymark.states.probabilities.costs import Cost, ProbabilitiesOf
from tallymark.states.sums import SumsOf, Term


def test_joining_many_declarations_takes_linear_time(monkeypatch):
    """Each term is joined as often as a tree of declarations is deep, and not once for every other one."""
    joined = []
    plain = SumsOf.join

    def counted(self, other):
        found = plain(self, other)
        joined.append(len(found.terms))
        return found

    monkeypatch.setattr(SumsOf, "join", counted)
    count = 512
    plan = Plan([SumsOf(Term("huber", (1.0 + k,))) for k in range(count)])
    assert len(plan.reads[0].terms) == count
    assert sum(joined) == count * 9  # 2**9 declarations


def test_joining_does_not_depend_on_the_order():
    """Nor on how many there are."""
    for count in (1, 2, 3, 5, 8):
        reads = [SumsOf(Term("huber", (1.0 + k,))) for k in range(count)]
        assert Plan(reads).reads == Plan(reads[::-1]).reads


def test_every_cost_is_found_at_its_place():
    """As in the order of all of them."""
    reads = ProbabilitiesOf(ANY_TARGET, *(Cost("log_loss", clip / 100) for clip in range(20)), Cost("brier"))
    assert [reads.place(cost) for cost in reads.costs] == list(range(21))


def test_many_failing_metrics_have_their_own_errors():
    """One state that cannot be read fails the metrics that read it, and no others."""
    asked = [tm.metric("accuracy", threshold=k / 10) for k in range(1, 9)]
    report = tm.evaluate([0, 1, 1], [0.5, 2.0, 0.1], [*asked, "mae"], errors="report")
    assert set(report.failures) == {str(item) for item in asked}
    assert report["mae"] > 0
