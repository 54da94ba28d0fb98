"""Certificates for servers of tests, made by openssl."""

import shutil
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path, names: str = "DNS:localhost,IP:127.0.0.1") -> tuple[str, str]:
    """A certificate and its key in a folder, as tls.crt and tls.key; it is its own authority, ca.crt."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    certificate, key = str(folder / "tls.crt"), str(folder / "tls.key")
    subject = ["-subj", "/CN=localhost", "-addext", f"subjectAltName={names}"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate]
    subprocess.run([*command, *subject], check=True, capture_output=True)
    shutil.copy(certificate, folder / "ca.crt")
    return certificate, key
