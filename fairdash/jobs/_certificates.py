"""The certificate by which scheduler, workers and app know each other."""

import json
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dask

log = logging.getLogger("fairdash.jobs")
WARN_DAYS = 30  # before a certificate ends


def new_certificate(*, days: int = 365) -> tuple[str, str]:
    """Return a certificate that signs itself, and its key, as PEM.

    Who has both is let in by who has both: scheduler, workers and clients share them.
    """
    from cryptography import x509  # loaded by whoever makes or reads one
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fairdash")])
    time = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(time - timedelta(days=1))  # clocks differ
        .not_valid_after(time + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(pem).decode(), private.decode()


def write_certificates(
    folder: Path, *, days: int = 365, renew: int | None = None
) -> Path:
    """Write a certificate, its key and the configuration that names both to Dask.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    days : int
        For which the certificate is valid.
    renew : int, optional
        A certificate that is there is kept while it is valid for more than so many
        days, and replaced afterwards.

    Returns
    -------
    Path
        The configuration.

    Raises
    ------
    ValueError
        When there is a key already and ``renew`` is None.
    """
    folder = folder.expanduser().resolve()
    certificate = folder / "certificate.pem"
    key = folder / "key.pem"
    config = folder / "dask.yaml"
    if key.exists() and renew is None:
        raise ValueError(
            f"{key} is there; delete it, name another folder, or use --renew."
        )
    if key.exists() and certificate_end(certificate) > days_from_now(renew or 0):
        return config
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One certificate for every role: it signs itself, so it is its own authority.
    identity = {"cert": str(certificate), "key": str(key)}
    tls = {
        "ca-file": str(certificate),
        "scheduler": identity,
        "worker": identity,
        "client": identity,
    }
    comm = {"require-encryption": True, "tls": tls}
    certificate_pem, key_pem = new_certificate(days=days)
    _write_private(certificate, certificate_pem)
    _write_private(key, key_pem)
    _write_private(config, json.dumps({"distributed": {"comm": comm}}))
    return config


def _write_private(path: Path, content: str) -> None:
    """Write a file that only its owner can read, from the first byte on."""
    flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
    with open(os.open(path, flags, 0o600), "w") as file:
        file.write(content)


def certificate_end(path: Path) -> datetime:
    """Return when the certificate of a PEM file ends."""
    from cryptography import x509

    return x509.load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc


def days_from_now(days: int) -> datetime:
    """Return the moment that is so many days ahead."""
    return datetime.now(UTC) + timedelta(days=days)


def warn_of_the_end() -> None:
    """Log a warning when the certificate that Dask is told of ends within 30 days."""
    path = dask.config.get("distributed.comm.tls.ca-file", None)
    if not path or not Path(path).is_file():
        return
    end = certificate_end(Path(path))
    if end < days_from_now(WARN_DAYS):
        log.warning(
            "The certificate %s ends on %s. Then workers, scheduler and app no longer "
            "reach each other. Make a new one by `fairdash cluster init %s --renew %d` "
            "and start all of them again.",
            path,
            f"{end:%Y-%m-%d}",
            Path(path).parent,
            WARN_DAYS,
        )
