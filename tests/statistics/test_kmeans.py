"""Clusters of weighted points."""

import math

import numpy as np
import pytest

from gwa.statistics.kmeans import elbow, kmeans, silhouette, silhouettes, standardised


def blobs(seed=0, n=150):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [8, 0], [0, 9]])
    return np.concatenate([rng.normal(centre, 1, (n, 2)) for centre in centres])


def test_finds_separate_groups():
    found = kmeans(blobs(), 3)
    assert found.sizes.tolist() == [150, 150, 150]
    assert sorted(np.rint(found.centres).astype(int).tolist()) == [[0, 0], [0, 9], [8, 0]]
    assert len(set(found.labels[:150])) == 1


def test_agrees_with_scikit_learn():
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is the reference")
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the reference")
    x = blobs(1)
    for k in (2, 3, 5):
        ours = kmeans(x, k)
        theirs = cluster.KMeans(k, n_init=10, random_state=0).fit(x)
        assert ours.inertia <= theirs.inertia_ * 1.005
        assert silhouette(x, ours.labels) == pytest.approx(metrics.silhouette_score(x, ours.labels), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_chooses_the_number_of_clusters_that_scikit_learn_chooses(seed):
    """On groups that overlap, where a choice is not forced, and by its labels as by ours."""
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is the reference")
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is the reference")
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(centre, 1.3, (80, 2)) for centre in rng.uniform(-6, 6, (4, 2))])
    numbers = range(2, 7)
    ours = [kmeans(x, k) for k in numbers]
    theirs = [cluster.KMeans(k, n_init=10, random_state=0).fit(x) for k in numbers]

    np.testing.assert_allclose([one.inertia for one in ours], [one.inertia_ for one in theirs], rtol=5e-3)
    widths = [silhouette(x, one.labels_) for one in theirs]
    expected = [metrics.silhouette_score(x, one.labels_) for one in theirs]
    np.testing.assert_allclose(widths, expected, atol=1e-9)
    assert np.argmax([silhouette(x, one.labels) for one in ours]) == np.argmax(expected)
    assert elbow([one.inertia for one in ours]) == elbow([one.inertia_ for one in theirs])


def test_the_elbow_is_farthest_from_the_line_between_the_ends():
    rng = np.random.default_rng(5)
    for _ in range(50):
        y = np.sort(rng.exponential(1, rng.integers(3, 9)))[::-1]
        one, other = np.array([0, y[0]]), np.array([y.size - 1.0, y[-1]])
        along = (other - one) / np.linalg.norm(other - one)
        points = np.stack([np.arange(y.size), y], axis=1) - one
        below = along[0] * -points[:, 1] + along[1] * points[:, 0]
        assert below[elbow(y)] == pytest.approx(below.max())


def test_weights_stand_for_repetition():
    rng = np.random.default_rng(2)
    x, weight = rng.integers(0, 8, (40, 2)).astype(float), rng.integers(1, 5, 40)
    x, place = np.unique(x, axis=0, return_inverse=True)
    weight = np.bincount(place.ravel(), weights=weight).astype(int)
    long = np.repeat(x, weight, axis=0)
    once = kmeans(x, 3, weight)
    labels = np.repeat(once.labels, weight)
    assert once.inertia == pytest.approx(((long - once.centres[labels]) ** 2).sum())
    assert once.sizes.sum() == weight.sum()
    assert silhouette(x, once.labels, weight) == pytest.approx(silhouette(long, labels))
    np.testing.assert_allclose(np.repeat(standardised(x, weight), weight, axis=0), standardised(long))


def test_the_elbow_and_the_silhouette_name_the_number_of_groups():
    x = blobs(3)
    runs = [kmeans(x, k) for k in range(1, 8)]
    assert elbow([run.inertia for run in runs]) + 1 == 3
    scores = [silhouette(x, run.labels) for run in runs[1:]]
    assert int(np.argmax(scores)) + 2 == 3
    assert elbow([5, 3]) == elbow([2, 2, 2]) == elbow([]) == 0


def test_one_dimension_and_many_points():
    rng = np.random.default_rng(4)
    x = np.concatenate((rng.normal(0, 1, 3000), rng.normal(30, 1, 1000)))
    found = kmeans(x, 2)
    assert found.sizes.tolist() == [3000, 1000]
    assert silhouette(x, found.labels) == pytest.approx(0.95, abs=0.02)


def test_silhouettes_of_several_partitions_are_those_of_each():
    rng = np.random.default_rng(5)
    x, weight = rng.normal(0, 1, (2500, 2)), rng.integers(1, 9, 2500)
    partitions = [kmeans(x, k, weight).labels for k in (2, 3, 4)]
    assert silhouettes(x, partitions, weight) == [silhouette(x, labels, weight) for labels in partitions]


def test_degenerate_points():
    assert kmeans([[1.0, 1.0]], 1).inertia == 0
    assert kmeans([1, 1, 1], 3).inertia == 0
    assert math.isnan(silhouette([1, 2], [0, 0]))
    assert standardised([3, 3, 3]).tolist() == [[0], [0], [0]]
    with pytest.raises(ValueError, match="clusters"):
        kmeans([1, 2], 3)


def test_is_deterministic():
    first, second = kmeans(blobs(), 4), kmeans(blobs(), 4)
    assert np.array_equal(first.centres, second.centres)
