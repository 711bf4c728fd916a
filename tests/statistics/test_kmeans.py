"""Clusters of weighted points."""

import math

import numpy as np
import pytest

from gwa.statistics.kmeans import elbow, kmeans, silhouette, standardised


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
