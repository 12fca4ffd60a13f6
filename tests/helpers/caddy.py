"""Debian's Caddy, which the balancer of docs/deploy is."""

import os
import shutil

import pytest


def installed_caddy():
    """Return the path of Debian's Caddy; skip the test where it is not installed."""
    caddy = shutil.which("caddy")
    if caddy is None:
        if os.environ.get("CI") == "true":
            pytest.fail("caddy is not installed, and CI must not skip it")
        pytest.skip("Debian's caddy is not installed")
    return caddy
