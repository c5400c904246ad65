"""Ranked search results: discounted gain and top-k accuracy."""

import numpy as np
from sklearn.metrics import dcg_score, ndcg_score, top_k_accuracy_score

rng = np.random.RandomState(0)
relevance, scores = rng.randint(0, 4, (50, 20)), rng.rand(50, 20)
for k in (None, 1, 5, 10):
    print(k, f"{ndcg_score(relevance, scores, k=k):.12f} {dcg_score(relevance, scores, k=k):.12f}")
    print(k, f"{ndcg_score(relevance, scores.round(1), k=k):.12f}")
    print(k, f"{ndcg_score(relevance, scores, k=k, ignore_ties=True):.12f}")
classes = rng.randint(0, 20, 50)
classes[:20] = range(20)
for k in (1, 2, 5):
    print(k, top_k_accuracy_score(classes, scores, k=k), top_k_accuracy_score(classes, scores, k=k, normalize=False))
