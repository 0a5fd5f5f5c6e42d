"""How far two ways to the same number may differ.

A sweep over N bodies accumulates along chains of at most N links, each link a product with (6, 6) matrices: no more
than 36 roundings. So a result is right to γ = 36 N ε of the largest term that went into it, and after a solve with the
mass matrix to γ κ(M_q) (Higham, Accuracy and Stability of Numerical Algorithms, sections 3.1 and 7.1).
"""

import numpy as np

EPS = np.finfo(float).eps


def gamma(model) -> float:
    """Relative rounding of one sweep."""
    return 36.0 * EPS * (model.nbodies + 1)


def assert_close(found, wanted, relative, scale=0.0):
    """|found − wanted| ≤ relative · max(largest entry of wanted, scale)."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    size = max(float(np.abs(wanted).max(initial=0.0)), scale)
    error = float(np.abs(found - wanted).max(initial=0.0))
    assert error <= relative * size, (
        f"error {error:.3g} of {size:.3g} is {error / size if size else np.inf:.3g} > {relative:.3g}"
    )
