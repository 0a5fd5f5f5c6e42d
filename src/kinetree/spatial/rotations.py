"""Rotations: matrices about an axis, unit quaternions [w, x, y, z], and their exponential and logarithm."""

from __future__ import annotations

import numpy as np

from kinetree.spatial.scalars import Array, Batch, Scalar, array

# Added to θ² so that sin θ/θ needs no branch at θ = 0. What is divided here by powers of θ is smooth in θ², so it changes by
# about 1e-24, which no float64 shows; and θ³ is still a number that a float32 holds.
TINY_SQUARED = 2.0**-80


def skew(a: Array) -> Array:
    """a~, with a~ b = a × b."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a: Array, b: Array) -> Array:
    """a × b."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation_about(axis: Array, angle: Scalar) -> Array:
    """R = a a* + cos θ (1 − a a*) + sin θ a~; in this form a coordinate axis leaves exact zeros and ones."""
    along = np.outer(axis, axis)
    return along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * skew(axis)


def rotation_of_quaternion(u: Array) -> Array:
    """Rotation matrix of a unit quaternion [w, x, y, z]."""
    w, x, y, z = u
    return array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternion_of_rotation(R: Array) -> Array:
    """Unit quaternion [w, x, y, z], w ≥ 0, of a float rotation matrix (3, 3)."""
    # Bar-Itzhack: the eigenvector of the largest eigenvalue, accurate for every angle.
    symmetric = R + R.T
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[1:, 1:] = symmetric - np.trace(R) * np.eye(3)
    u = np.linalg.eigh(K)[1][:, -1]
    return u if u[0] >= 0 else -u


def quaternion_product(a: Array, b: Array) -> Array:
    """a ∘ b: the rotation b followed, in the axes of a's frame, by a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def conjugate(u: Array) -> Array:
    """The quaternion of the opposite rotation."""
    return array([u[0], -u[1], -u[2], -u[3]])


def normalized(u: Array) -> Array:
    """u/|u|."""
    scale = 1.0 / np.sqrt(u @ u)
    return array([x * scale for x in u])


def quaternion_exponential(theta: Array) -> Array:
    """The unit quaternion of a rotation vector: [cos |θ|/2, θ/|θ| sin |θ|/2]."""
    half = np.sqrt(0.25 * (theta @ theta) + TINY_SQUARED)
    scale = 0.5 * np.sin(half) / half
    return array([np.cos(half), *(x * scale for x in theta)])


def quaternion_logarithm(u: Array) -> Array:
    """The rotation vector of a unit quaternion, |θ| ≤ π. Float entries or batches only."""
    sine = np.sqrt(u[1:] @ u[1:] + TINY_SQUARED)
    scale = 2.0 * _arctan_ratio(sine, u[0]) / sine
    return array([x * scale for x in u[1:]])


def _arctan_ratio(sine: Scalar, cosine: Scalar) -> Scalar:
    """atan(sine/cosine), taking u and −u, the same rotation, to the same short angle; an exact ±π/2 at cosine 0."""
    if isinstance(sine, Batch):
        return Batch(_arctan_ratio(sine.values, cosine.values if isinstance(cosine, Batch) else cosine))
    sign = np.where(np.real(cosine) < 0.0, -1.0, 1.0)
    return sign * np.arctan2(sine, sign * cosine)


def translation_jacobian(theta: Array) -> Array:
    """V(θ) of the exponential of SE(3): V = 1 + (1 − cos θ)/θ² θ~ + (θ − sin θ)/θ³ θ~²."""
    squared = theta @ theta + TINY_SQUARED
    angle = np.sqrt(squared)
    half_sine = np.sin(0.5 * angle)
    K = skew(theta)
    return np.eye(3) + (2.0 * half_sine * half_sine / squared) * K + ((angle - np.sin(angle)) / (squared * angle)) * (K @ K)


def inverse_translation_jacobian(theta: Array) -> Array:
    """V(θ)⁻¹ = 1 − θ~/2 + (1 − θ/2 cot θ/2)/θ² θ~², |θ| < 2π."""
    squared = theta @ theta + TINY_SQUARED
    half = 0.5 * np.sqrt(squared)
    K = skew(theta)
    return np.eye(3) - 0.5 * K + ((1.0 - half * np.cos(half) / np.sin(half)) / squared) * (K @ K)
