"""Clusterings of digits compared with their classes, and by their shape."""

from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.preprocessing import scale

X, y = load_digits(n_class=6, return_X_y=True)
X = scale(X)[:400]
y = y[:400]
for k in (4, 6, 9):
    labels = KMeans(k, n_init=2, random_state=0).fit(X).labels_
    for name in (
        *("homogeneity_score", "completeness_score", "v_measure_score", "adjusted_rand_score", "rand_score"),
        *("adjusted_mutual_info_score", "normalized_mutual_info_score", "mutual_info_score", "fowlkes_mallows_score"),
    ):
        print(k, name, f"{getattr(metrics, name)(y, labels):.12f}")
    print(k, f"{metrics.silhouette_score(X, labels):.12f} {metrics.calinski_harabasz_score(X, labels):.9f}")
    print(k, f"{metrics.davies_bouldin_score(X, labels):.12f}")
    print(metrics.cluster.contingency_matrix(y, labels), metrics.cluster.pair_confusion_matrix(y, labels))
