"""Playgrounds of the page: mechanisms, composition and attacks, computed by the library.

No route here reads data, a catalog or a ledger, and none spends anything. All people are synthetic.

| file | contents |
|---|---|
| `limits.py` | bounds of parameters, so that no call costs much |
| `noise.py` | distributions of two neighbours, draws, margins of error, beliefs |
| `crowds.py` | randomized response |
| `choices.py` | the auction and noisy max |
| `streams.py` | the sparse vector technique |
| `composition.py` | what many answers cost together |
| `attacks.py` | attacks on synthetic people |
| `course.py` | numbers of university courses |
| `routes.py` | the routes `/v1/learn/…` |
"""
