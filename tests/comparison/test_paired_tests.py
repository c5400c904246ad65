"""McNemar, DeLong and the paired bootstrap against SciPy, statsmodels and direct twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar

from tallymark.comparison.paired_tests import ResampledPair, bootstrap, delong, max_t, mcnemar
from tallymark.data.batch import Batch
from tallymark.data.target import ANY_TARGET
from tallymark.states.resampling.paired_rows import PairedOutcomes, Placements, read_placements


def outcomes(both: int, losses: int, gains: int, neither: int) -> tuple[PairedOutcomes, PairedOutcomes]:
    """Rows of two models: right in both, in the first only, in the second only, in neither."""
    first = np.repeat([True, True, False, False], [both, losses, gains, neither])
    second = np.repeat([True, False, True, False], [both, losses, gains, neither])
    return PairedOutcomes(first), PairedOutcomes(second)


def placements(truth, scores) -> Placements:
    return read_placements(Batch(np.asarray(truth), np.asarray(scores)), ANY_TARGET, 1.0)


@pytest.mark.parametrize("table", [(5, 3, 9, 4), (5, 0, 24, 4), (50, 0, 1, 0), (50, 30, 45, 5), (10, 4000, 4200, 10)])
def test_shares_are_tested_by_the_score_test_of_mcnemar(table):
    """Without a continuity correction, as statsmodels has it."""
    both, losses, gains, neither = table
    found = mcnemar(*outcomes(*table), 0.95)
    assert found.method == "McNemar"
    peer = peer_mcnemar([[both, losses], [gains, neither]], exact=False, correction=False).pvalue
    assert found.p == pytest.approx(peer, rel=1e-12)


def test_few_discordant_rows_are_noted():
    """The normal approximation is rough below ten of them."""
    assert mcnemar(*outcomes(5, 3, 6, 4), 0.95).notes == (
        "only 9 discordant rows: p-value and interval are approximate",
    )
    assert mcnemar(*outcomes(5, 4, 6, 4), 0.95).notes == ()


def score_limit(gains: int, losses: int, n: int, z: float) -> float:
    """The upper limit of Tango's interval, with the likelihood maximized by search."""

    def excess(difference: float) -> float:
        def unlikely(share: float) -> float:
            cells = (share + difference, share, 1 - 2 * share - difference)
            counts = (gains, losses, n - gains - losses)
            return -sum(c * math.log(max(p, 1e-300)) for c, p in zip(counts, cells, strict=True) if c)

        least, most = max(0.0, -difference), (1 - difference) / 2
        share = optimize.minimize_scalar(unlikely, bounds=(least, most), method="bounded", options={"xatol": 1e-12}).x
        return (gains - losses - n * difference) ** 2 - z * z * n * (2 * share + difference * (1 - difference))

    return optimize.brentq(excess, (gains - losses) / n + 1e-9, 1 - 1e-9, xtol=1e-12)


@pytest.mark.parametrize("table", [(5, 3, 9, 4), (50, 30, 45, 5), (1, 1, 7, 12), (30, 0, 4, 6), (9, 2, 0, 3)])
def test_the_interval_is_what_the_score_test_does_not_refuse(table):
    """Tango's interval, found by maximizing the likelihood at every difference."""
    _, losses, gains, _ = table
    found = mcnemar(*outcomes(*table), 0.95)
    z = stats.norm.ppf(0.975)
    assert found.hi == pytest.approx(score_limit(gains, losses, sum(table), z), abs=1e-5)
    assert found.lo == pytest.approx(-score_limit(losses, gains, sum(table), z), abs=1e-5)


def test_intervals_are_those_published():
    """Airway hyper-responsiveness before and after transplantation (Bentur et al. 2009), and complete response before
    and after consolidation (Cavo et al. 2012), as Fagerland, Lydersen and Laake (2014, 2017) have them."""
    found = mcnemar(*outcomes(1, 1, 7, 12), 0.95)
    assert (round(found.lo, 3), round(found.hi, 3)) == (0.026, 0.517)
    found = mcnemar(*outcomes(59, 16, 6, 80), 0.95)
    assert (round(found.lo, 4), round(found.hi, 4), round(found.p, 6)) == (-0.1240, -0.0054, 0.033006)


def test_models_that_are_right_in_the_same_rows():
    """No row tells them apart, but the next ones might: the interval is not of zero width."""
    found = mcnemar(*outcomes(90, 0, 0, 10), 0.95)
    z2 = stats.norm.ppf(0.975) ** 2
    assert found.p == 1.0
    assert found.hi == pytest.approx(z2 / (100 + z2), rel=1e-9)
    assert found.lo == -found.hi
    assert math.isnan(found.error)
    assert mcnemar(*outcomes(0, 0, 0, 0), 0.95).reason == "no rows"


def covariance_twin(truth, first, second):
    """DeLong by all pairs of rows: both areas, the standard error of their difference and its degrees of freedom."""
    y = np.asarray(truth) == 1
    wins = [
        (s[y][:, None] > s[~y][None, :]) + 0.5 * (s[y][:, None] == s[~y][None, :])
        for s in (np.asarray(first), np.asarray(second))
    ]
    of_positives = np.cov([w.mean(axis=1) for w in wins])
    of_negatives = np.cov([w.mean(axis=0) for w in wins])
    contrast = np.array([-1.0, 1.0])
    sizes = y.sum(), (~y).sum()
    parts = [contrast @ held @ contrast / n for held, n in zip((of_positives, of_negatives), sizes, strict=True)]
    freedom = sum(parts) ** 2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    return (
        wins[0].mean(),
        wins[1].mean(),
        math.sqrt(sum(parts)),
        freedom,
        of_positives / sizes[0] + of_negatives / sizes[1],
    )


def mover_twin(areas, covariance, t):
    """The ends of a difference from those of two areas on the logit scale, and how far they go together."""
    errors = np.sqrt(np.diag(covariance))
    logits, steps = np.log(areas / (1 - areas)), t * errors / (areas * (1 - areas))
    (l1, l2), (u1, u2) = (1 / (1 + np.exp(-(logits + sign * steps))) for sign in (-1, 1))
    r = covariance[0, 1] / errors.prod()
    below, above = np.array([areas[1] - l2, u1 - areas[0]]), np.array([u2 - areas[1], areas[0] - l1])
    reach = [math.sqrt(d @ [[1, -r], [-r, 1]] @ d) for d in (below, above)]
    return areas[1] - areas[0] - reach[0], areas[1] - areas[0] + reach[1]


@pytest.mark.parametrize("ties", [1, 20, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_delong_is_that_of_all_pairs(seed, ties):
    """The covariance of two areas by comparing every positive with every negative, ties half; Student's t with the
    degrees of freedom of Welch."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 150))
    truth = np.concatenate(([0, 0, 1, 1], rng.random(n) < rng.choice([0.05, 0.5])))
    first = np.round((truth + rng.normal(size=n + 4)) * ties) / ties
    second = np.round((truth + first + rng.normal(size=n + 4)) * ties) / ties
    area_first, area_second, error, freedom, covariance = covariance_twin(truth, first, second)
    found = delong(placements(truth, first), placements(truth, second), 0.9)
    difference, reach = area_second - area_first, stats.t.ppf(0.95, freedom) * error
    assert found.error == pytest.approx(error, rel=1e-9)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(difference) / error, freedom), rel=1e-9)
    assert found.freedom == pytest.approx(freedom, rel=1e-9)
    low, high = mover_twin(np.array([area_first, area_second]), covariance, stats.t.ppf(0.95, freedom))
    lo, hi = difference - reach, difference + reach
    lo, hi = (lo, max(hi, high)) if difference > 0 else (min(lo, low), hi)
    assert found.lo == pytest.approx(lo, abs=1e-12)
    assert found.hi == pytest.approx(hi, abs=1e-12)
    assert (found.lo > 0 or found.hi < 0) == (found.p < 0.1)


def test_delong_of_one_model_at_rest_is_the_test_of_brunner_and_munzel():
    """Against a model that gives all rows one score, the area is tested against 0.5, as SciPy does."""
    rng = np.random.default_rng(5)
    for positives in (4, 30):
        truth = np.repeat([0, 1], [40, positives])
        scores = np.round(truth + rng.normal(size=len(truth)), 1)
        found = delong(placements(truth, np.zeros(len(truth))), placements(truth, scores), 0.95)
        peer = stats.brunnermunzel(scores[truth == 0], scores[truth == 1])
        assert found.p == pytest.approx(peer.pvalue, rel=1e-9)


@pytest.mark.parametrize("positives", [5, 9])
def test_few_positives_find_no_more_than_they_may(positives):
    """Where there is no difference, at most one data set in twenty shows one, up to the error of so many; by the normal
    distribution about twice as many would."""
    rng = np.random.default_rng(11)
    truth = np.repeat([0, 1], [200, positives])
    ps, by_normal = [], []
    for _ in range(400):
        shared, *own = rng.normal(size=(3, len(truth)))
        found = delong(*(placements(truth, truth + shared + noise) for noise in own), 0.95)
        ps.append(found.p)
        by_normal.append(stats.t.isf(found.p / 2, found.freedom))
    most = stats.binom.ppf(0.999, len(ps), 0.05) / len(ps)
    assert np.mean(np.array(ps) <= 0.05) <= most
    assert np.mean(np.array(by_normal) > stats.norm.ppf(0.975)) > 1.3 * np.mean(np.array(ps) <= 0.05)


def test_delong_without_variance_gives_no_difference_or_a_reason():
    """The same order is no difference; one row is too few."""
    truth, up = [0, 0, 1, 1], np.array([0.1, 0.2, 0.3, 0.4])
    alike = delong(placements(truth, up), placements(truth, up**3), 0.95)
    assert (alike.p, alike.reason) == (1.0, "both models rank the rows alike")
    assert math.isnan(alike.lo)
    few = delong(placements([0, 1, 1], up[:3]), placements([0, 1, 1], -up[:3]), 0.95)
    assert few.reason == "the test needs two rows of each class"


@pytest.mark.parametrize(("positives", "negatives"), [(2, 2), (7, 49), (50, 6), (300, 300)])
def test_delong_of_models_that_order_all_pairs_alike(positives, negatives):
    """Right, wrong or not at all: DeLong's variance is 0, so as many pairs as have no row in common are tested by
    McNemar's test. Means of equal placements are not quite equal to these."""
    truth = [1] * positives + [0] * negatives
    right = np.array(truth) + np.linspace(0, 0.1, len(truth))
    fewest = min(positives, negatives)
    expected = mcnemar(*outcomes(0, 0, fewest, 0), 0.95)
    for first, second, change in ((right, 0 * right, -0.5), (0 * right, right, 0.5), (right, -right, -1.0)):
        found = delong(placements(truth, first), placements(truth, second), 0.95)
        ends = sorted((change * expected.lo, change * expected.hi))
        assert (found.method, found.p) == ("McNemar", pytest.approx(expected.p, rel=1e-12))
        assert (found.lo, found.hi) == (pytest.approx(ends[0], abs=1e-12), pytest.approx(ends[1], abs=1e-12))
        assert f"so {fewest} pairs of a positive and a negative row are tested" in found.notes[0]


def test_a_change_of_all_rows_by_the_same_that_is_not_one_of_all_pairs():
    """Every row loses half a place, and some pairs nothing: there is neither an error nor a coin."""
    truth, first, second = [1, 1, 0, 0], np.array([3, 1, 2, 0]), np.array([2, 1, 2, 1])
    found = delong(placements(truth, first), placements(truth, second), 0.95)
    assert math.isnan(found.p)
    assert "the variance is 0" in found.reason


def test_the_p_value_of_a_bootstrap_is_where_its_interval_ends_at_zero():
    """Percentiles lie between two resamples in proportion; of 999, ten are at most 0, the tenth is 0 itself."""
    differences = np.arange(-9.0, 990.0)
    shuffled = np.random.default_rng(0).permutation(differences)
    found = bootstrap(shuffled, 0.95, "paired bootstrap")
    assert (found.lo, found.hi) == (pytest.approx(-9.0 + 24), pytest.approx(989.0 - 24))
    assert found.p == pytest.approx(2 * 10 / 1000, rel=1e-12)
    assert found.error == pytest.approx(np.std(differences, ddof=1), rel=1e-12)
    between = bootstrap(shuffled - 0.25, 0.9785, "paired bootstrap")
    assert between.lo == pytest.approx(-9.25 + 9.75, rel=1e-9)
    assert between.p == pytest.approx(2 * 10.25 / 1000, rel=1e-12)
    assert bootstrap(shuffled + 10, 0.95, "paired bootstrap").p == pytest.approx(2 / 1000, rel=1e-9)


def test_a_p_value_of_one_less_the_level_is_not_significant():
    """The interval ends at 0, and p is below neither 0.05 nor 1 − 0.95."""
    found = bootstrap(np.arange(-24.0, 975.0), 0.95, "paired bootstrap")
    assert found.lo == 0
    assert 1 - 0.95 <= found.p == pytest.approx(0.05, rel=1e-12)


def test_the_fewest_resamples_that_a_level_needs_can_show_a_difference():
    """Of 39 resamples, all above 0, the interval of 95 % excludes 0."""
    found = bootstrap(np.arange(1.0, 40.0), 0.95, "paired bootstrap")
    assert found.lo == pytest.approx(1.0)
    assert found.p < 0.05 == pytest.approx(found.p, rel=1e-9)


@pytest.mark.parametrize("units", [math.inf, 200, 30, 6])
def test_the_p_value_of_a_bootstrap_is_below_alpha_just_where_the_interval_excludes_zero(units):
    """At every level, and with the p-value of another level; beyond the last resample too, and with ties at 0."""
    rng = np.random.default_rng(1)
    levels = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
    seen = set()
    for shift in np.linspace(0, 14, 150):
        values = rng.normal(shift, 1, 199)
        for differences in (values, np.round(values), np.round(values) / 3):
            ps = set()
            for level in levels:
                found = bootstrap(differences, level, "paired bootstrap", units)
                excludes = found.lo > 0 or found.hi < 0
                assert excludes == (found.p < 1 - level) == (found.p < round(1 - level, 6))
                seen.add(excludes)
                ps.add(round(found.p, 9))
            assert len(ps) == 1
    assert seen == {True, False}


def test_what_is_not_known_well_is_wider():
    """Percentiles and p-values are as far out as those of Student's t are, and the error as that of a sample is."""
    values = np.random.default_rng(2).normal(2.4, 1, 9999)
    plain, found = (bootstrap(values, 0.95, "b", *known) for known in ((), (9,)))
    widening = math.sqrt(9 / 8)
    assert found.error == pytest.approx(plain.error * widening, rel=1e-12)
    reach = stats.t.ppf(0.975, 8) * widening
    place, ranks = 10_000 * stats.norm.sf(reach), np.arange(1, 10_000)
    ends = np.interp([place, 10_000 - place], ranks, np.sort(values))
    assert (found.lo, found.hi) == (pytest.approx(ends[0], rel=1e-9), pytest.approx(ends[1], rel=1e-9))
    assert found.p == pytest.approx(2 * stats.t.sf(stats.norm.isf(plain.p / 2) / widening, 8), rel=1e-9)
    beyond = bootstrap(values, 0.999, "b", 5)
    reach = stats.t.ppf(0.9995, 4) * math.sqrt(5 / 4)
    assert beyond.lo == pytest.approx(values.min() - (reach - stats.norm.isf(1e-4)) * plain.error, rel=1e-9)


def test_uninformative_resamples_give_a_reason_not_an_interval():
    """The same in all, or undefined in most: a reason instead of an interval of no width."""
    same = bootstrap(np.zeros(99), 0.95, "paired bootstrap")
    assert (same.p, same.reason) == (1.0, "both models have the same value in every resample")
    constant = bootstrap(np.ones(99), 0.95, "paired bootstrap")
    assert math.isnan(constant.p)
    assert constant.reason == "the difference is the same in every resample"
    some = bootstrap(np.array([math.nan] * 9 + list(range(90))), 0.9, "paired bootstrap")
    assert some.notes == ("undefined in 9 of 99 resamples, which are left out",)
    assert some.lo == pytest.approx(3.55)
    most = bootstrap(np.array([math.nan] * 60 + list(range(39))), 0.9, "paired bootstrap")
    assert most.reason == "the difference is undefined in too many resamples"


def joint_resamples(seed, shifts, resamples=199):
    """Differences of several pairs whose resamples go together."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=resamples)
    values = [shift + shared + scale * rng.normal(size=resamples) for scale, shift in enumerate(shifts, start=1)]
    return [ResampledPair(float(v.mean() + 0.1), v) for v in values]


def max_t_twin(pairs, level, n):
    """Single-step max-T in NumPy and SciPy: p-values and intervals."""
    observed, replicates = np.array([pair.value for pair in pairs]), np.array([pair.differences for pair in pairs])
    error = replicates.std(axis=1, ddof=1)
    largest = (np.abs(replicates - observed[:, None]) / error[:, None]).max(axis=0)
    error *= math.sqrt(n / (n - 1))
    t = np.abs(observed) / error
    z = stats.norm.isf(stats.t.sf(t, n - 1))  # as far out as t is among Student's
    p = [(1 + np.sum(largest >= each)) / (len(largest) + 1) for each in z]
    possible = np.sort(largest)[::-1]
    critical = next(c for c in possible[::-1] if (1 + np.sum(largest > c)) / (len(largest) + 1) < 1 - level - 1e-12)
    reach = stats.t.isf(stats.norm.sf(critical), n - 1) * error
    return p, observed - reach, observed + reach


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("level", "units"), [(0.95, 200), (0.9, 12), (0.8, 5000)])
def test_max_t_is_single_step(seed, level, units):
    """p-values and intervals of all pairs, against a twin."""
    pairs = joint_resamples(seed, (0.0, 2.0, 9.0, 30.0))
    found = max_t(pairs, level, "paired bootstrap", units)
    p, lo, hi = max_t_twin(pairs, level, units)
    assert [each.p for each in found] == pytest.approx(p, rel=1e-9)
    assert [each.lo for each in found] == pytest.approx(lo.tolist(), rel=1e-9)
    assert [each.hi for each in found] == pytest.approx(hi.tolist(), rel=1e-9)


def test_max_t_of_one_pair_and_of_several():
    """More pairs make p-values larger and intervals wider; the order of the pairs changes nothing."""
    pairs = joint_resamples(1, (0.5, 3.0, 5.0))
    together = max_t(pairs, 0.9, "b", 100)
    assert max_t(pairs[::-1], 0.9, "b", 100) == together[::-1]
    for pair, wider in zip(pairs, together, strict=True):
        (alone,) = max_t([pair], 0.9, "b", 100)
        assert alone.p <= wider.p
        assert wider.lo < alone.lo < alone.hi < wider.hi


def test_pairs_that_cannot_be_tested_have_no_part_in_max_t():
    """Those of no variance keep their reasons, and change nothing for the others."""
    pairs = joint_resamples(2, (1.0, 4.0))
    alike, constant = ResampledPair(0.0, np.zeros(199)), ResampledPair(0.5, np.full(199, 0.5))
    lost = ResampledPair(0.5, np.full(199, math.nan))
    found = max_t([alike, pairs[0], constant, pairs[1], lost], 0.95, "b", 100)
    assert found[1::2] == max_t(pairs, 0.95, "b", 100)
    assert (found[0].p, found[0].reason) == (1.0, "both models have the same value in every resample")
    assert found[2].reason == "the difference is the same in every resample"
    assert found[4].reason == "the difference is undefined in too many resamples"
    assert all(math.isnan(each.lo) for each in found[::2])
    assert [each.reason for each in max_t([alike, constant], 0.95, "b")] == [found[0].reason, found[2].reason]


def test_resamples_in_which_one_pair_is_undefined():
    """The other pairs are read there; a resample without any is left out."""
    one, other = joint_resamples(3, (2.0, 3.0))
    one.differences[:9], other.differences[5:9] = math.nan, math.nan
    found = max_t([one, other], 0.9, "b")
    for each, undefined in zip(found, (9, 4), strict=True):
        assert each.notes == (f"undefined in {undefined} of 199 resamples, which are left out",)
    assert found[0].p * 196 == pytest.approx(round(found[0].p * 196))


@pytest.mark.parametrize("scale", [1e-200, 1e290])
def test_max_t_of_differences_of_any_size(scale):
    """Deviations neither overflow nor vanish."""
    pairs = joint_resamples(4, (1.0, 6.0))
    scaled = [ResampledPair(pair.value * scale, pair.differences * scale) for pair in pairs]
    for plain, other in zip(max_t(pairs, 0.9, "b"), max_t(scaled, 0.9, "b"), strict=True):
        assert other.p == plain.p
        assert (other.lo, other.hi) == (pytest.approx(plain.lo * scale), pytest.approx(plain.hi * scale))


@pytest.mark.parametrize("units", [math.inf, 200, 6])
def test_the_p_value_of_max_t_is_below_alpha_just_where_the_interval_excludes_zero(units):
    """At every level, with ties between resamples and where the deviation is that of a resample."""
    seen = set()
    for seed in range(30):
        pairs = joint_resamples(seed, (0.0, 3.0, 7.0))
        rounded = [ResampledPair(round(pair.value), np.round(pair.differences)) for pair in pairs]
        edge = [ResampledPair(float(abs(pair.differences[0] - pair.value)), pair.differences) for pair in pairs[:1]]
        for level in (0.5, 0.8, 0.9, 0.95, 0.98, 0.99):
            for case in (pairs, rounded, edge):
                for found in max_t(case, level, "b", units):
                    excludes = found.lo > 0 or found.hi < 0
                    assert excludes == (found.p < 1 - level) == (found.p < round(1 - level, 6))
                    seen.add(excludes)
    assert seen == {True, False}


def test_p_values_know_their_floor():
    """Of 199 resamples: 2 / 200 for one pair, 1 / 200 for several."""
    (low, high) = joint_resamples(5, (0.0, 90.0))
    alone = bootstrap(high.differences, 0.95, "b")
    assert (alone.p, alone.p_at_floor) == (pytest.approx(0.01), True)
    assert not bootstrap(low.differences, 0.95, "b").p_at_floor
    found = max_t([low, high], 0.95, "b")
    assert [each.p_at_floor for each in found] == [False, True]
    assert found[1].p == 1 / 200
    assert not mcnemar(*outcomes(0, 0, 900, 0), 0.95).p_at_floor


@pytest.mark.parametrize("seed", range(20))
def test_the_other_way_round_only_the_signs_turn(seed):
    """To the last bit, in all three tests."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 300))
    first, second = PairedOutcomes(rng.random(n) < 0.7), PairedOutcomes(rng.random(n) < 0.6)
    truth = np.concatenate(([0, 0, 1, 1], rng.integers(0, 2, n)))
    scores = [placements(truth, truth + rng.normal(size=n + 4)) for _ in range(2)]
    values = rng.normal(0.3, 1, 199)
    for one, other in (
        (mcnemar(first, second, 0.95), mcnemar(second, first, 0.95)),
        (delong(*scores, 0.95), delong(*scores[::-1], 0.95)),
        *((bootstrap(values, 0.95, "b", n), bootstrap(-values, 0.95, "b", n)) for n in (math.inf, 200, 6)),
    ):
        assert one == other._replace(lo=-other.hi, hi=-other.lo)
        assert one.lo < one.hi


@pytest.mark.parametrize("scale", [1e-200, 1e300])
def test_huge_and_tiny_differences_neither_overflow_nor_vanish(scale):
    """Squares neither overflow nor vanish; infinite differences are left out."""
    values = np.random.default_rng(3).normal(0.3, 1, 199)
    plain, scaled = bootstrap(values, 0.9, "b"), bootstrap(np.append(values * scale, math.inf), 0.9, "b")
    assert scaled.error == pytest.approx(plain.error * scale, rel=1e-12)
    assert scaled.notes == ("undefined in 1 of 200 resamples, which are left out",)
