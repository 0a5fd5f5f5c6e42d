"""kinetree: multibody dynamics by spatial operators."""

from kinetree.model import *  # noqa: F403
