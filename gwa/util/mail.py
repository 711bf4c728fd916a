"""
Mail: whose address is which, messages, and the two ways by which they leave: sendmail, or a server.

Names and addresses come from logs and files of others. Nothing of them becomes a second header, recipient or
option: an address must have the form of one, and a message refuses headers of several lines.
"""

import csv
import re
import shutil
import smtplib
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime, make_msgid
from io import StringIO
from pathlib import Path
from typing import Final, Protocol

from gwa.errors import DefinitionError, OutputError
from gwa.util.toml import read_text

ADDRESS: Final = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9._+'-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
)
"""One address, without a name, quotes or comments, that no program takes for an option."""

DOMAIN: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")

SYSTEM_ACCOUNTS: Final = frozenset(
    {
        "root", "toor", "daemon", "bin", "sys", "adm", "lp", "sync", "shutdown", "halt", "mail", "news",
        "uucp", "operator", "games", "gopher", "ftp", "nobody", "nfsnobody", "man", "proxy", "www-data",
        "www", "apache", "nginx", "backup", "list", "irc", "gnats", "sshd", "dbus", "messagebus", "polkitd",
        "ntp", "chrony", "munge", "slurm", "slurmdbd", "pbs", "lsfadmin", "sge", "sgeadmin", "condor",
        "oar", "flux", "mysql", "postgres", "postfix", "rpc", "rpcuser", "tss",
        # RFC 2142: mailboxes that every domain may have, and that are no person's
        "postmaster", "hostmaster", "webmaster", "usenet", "abuse", "noc", "security", "info", "marketing",
        "sales", "support", "mailer-daemon",
    }
)  # fmt: skip
"""Accounts of systems and of services, in small letters: no one asked for letters to them."""


def is_person(name: str) -> bool:
    """
    Whether the *name* of a user may be that of a person; a number is a UID whose user is not known by name.

    >>> is_person("ann"), is_person("1004"), is_person("Root"), is_person("systemd-network")
    (True, False, False, False)
    """
    lower = name.lower()
    return not (lower in SYSTEM_ACCOUNTS or lower.isdecimal() or lower.startswith(("systemd-", "_")))


MAXIMUM_BYTES: Final = 20_000_000
"""A larger file is no list of the users of a cluster."""

SENDMAIL: Final = ("sendmail", "/usr/sbin/sendmail", "/usr/lib/sendmail")
TIMEOUT: Final = 60.0
"""Seconds in which a mail must be taken."""

PORT: Final = 25
MAXIMUM_PORT: Final = 65535


@dataclass(frozen=True)
class Addresses:
    """
    The addresses of names: those that are *stated*, else the name at a *domain*, if there is one.

    Nothing at the domain is made of the names of those who are no people: see `is_person`.
    """

    stated: Mapping[str, str] = field(default_factory=dict)
    domain: str = ""

    def of(self, name: str) -> str | None:
        """
        Return the address of a *name*; None where none is known, or none can be made of the name.

        >>> Addresses(domain="example.org").of("ann"), Addresses(domain="example.org").of("ann, bob")
        ('ann@example.org', None)
        """
        made = f"{name}@{self.domain}" if self.domain and is_person(name) else ""
        address = self.stated.get(name) or made
        return address if ADDRESS.fullmatch(address) else None


def read_addresses(path: Path, column: str = "user") -> dict[str, str]:
    """
    Return the addresses in a CSV file with the columns *column* and address, by name.

    Raise `DefinitionError` for another file, for what is no address, and for a name with two of them.
    """
    text = read_text(path, f"CSV with the columns {column},address", MAXIMUM_BYTES)
    rows = csv.DictReader(StringIO(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"), newline=""))
    if not {column, "address"} <= {(name or "").strip() for name in rows.fieldnames or ()}:
        raise DefinitionError(f"{path}:1: its columns are {_shown(rows)}, expected {column},address")
    found: dict[str, str] = {}
    for row in rows:
        values = {(key or "").strip(): value for key, value in row.items() if isinstance(value, str)}
        name, address = values.get(column, "").strip(), values.get("address", "").strip()
        if not name and not address:
            continue
        if not ADDRESS.fullmatch(address):
            raise DefinitionError(
                f"{path}:{rows.line_num}: is {address[:80]!r}, expected one address such as ann@example.org"
            )
        if found.setdefault(name, address) != address:
            raise DefinitionError(
                f"{path}:{rows.line_num}: {name[:80]!r} has another address above, expected one"
            )
    return found


def _shown(rows: "csv.DictReader[str]") -> str:
    return ascii(",".join(map(str, rows.fieldnames or ())))[1:-1][:80] or "none"


def compose(subject: str, text: str, html: str, *, to: str, sender: str = "") -> EmailMessage:
    """Return a message of a *text* and the same as *html*; raise `ValueError` for no address."""
    for address in (to, sender) if sender else (to,):
        if not ADDRESS.fullmatch(address):
            raise ValueError(f"{address!r} is not an address")
    message = EmailMessage(policy=SMTP)
    message["Subject"] = " ".join(subject.split())
    if sender:
        message["From"] = sender
    message["To"] = to
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    message.add_alternative(html, subtype="html")
    return message


class Mailer(Protocol):
    """What takes mail; `send` raises `OutputError` for one that is not accepted."""

    def send(self, message: EmailMessage) -> None:
        """Hand a message over, and return when it was accepted."""


def _dated(message: EmailMessage) -> EmailMessage:
    """Return a message with what one that leaves must have: the time, and an id of the sender's domain."""
    message["Date"] = format_datetime(localtime())
    message["Message-ID"] = make_msgid(domain=str(message["From"]).rpartition("@")[2])
    return message


@dataclass(frozen=True)
class Sendmail:
    """The *program* of the system that takes mail, as sendmail, Postfix and Exim have it."""

    program: str

    @classmethod
    def of_system(cls) -> "Sendmail":
        """Return that of this machine; raise `OutputError` if it has none."""
        program = next(filter(None, map(shutil.which, SENDMAIL)), None)
        if program is None:
            raise OutputError("this machine has no sendmail, expected one, or --smtp HOST")
        return cls(program)

    def send(self, message: EmailMessage) -> None:
        """Hand a message over, and return when it was accepted."""
        dated = _dated(message)
        command = [self.program, "-i", "-f", str(dated["From"]), "--", str(dated["To"])]
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and addresses are no options
                command, input=dated.as_bytes(policy=dated.policy.clone(linesep="\n")), capture_output=True,
                timeout=TIMEOUT, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OutputError(f"{self.program}: did not take the mail: {error}") from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            reason = said[-1][:200] if said else f"status {done.returncode}"
            raise OutputError(f"{self.program}: refused the mail: {reason}")


@dataclass(frozen=True)
class Smtp:
    """An open connection to the mail *server* that is called *name*."""

    server: smtplib.SMTP
    name: str

    def send(self, message: EmailMessage) -> None:
        """Hand a message over, and return when it was accepted."""
        try:
            self.server.send_message(_dated(message))
        except smtplib.SMTPServerDisconnected as error:
            raise ConnectionLostError(f"{self.name}: closed the connection: {error}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise OutputError(f"{self.name}: refused the mail: {_reason(error)}") from error


class ConnectionLostError(OutputError):
    """A server takes no further mail."""


@contextmanager
def connected(where: str) -> Iterator[Smtp]:
    """Connect to the server HOST[:PORT] until the end of a ``with``; raise `OutputError` if that fails."""
    host, port = host_and_port(where)
    try:
        server = smtplib.SMTP(host, port, timeout=TIMEOUT)
    except (OSError, smtplib.SMTPException) as error:
        raise OutputError(f"{where}: no mail server answers there: {_reason(error)}") from error
    try:
        yield Smtp(server, where)
    finally:
        server.close()


def host_and_port(where: str) -> tuple[str, int]:
    """
    Return the parts of HOST[:PORT]; raise `DefinitionError` if it is none.

    >>> host_and_port("mail.example.org"), host_and_port("localhost:1025")
    (('mail.example.org', 25), ('localhost', 1025))
    """
    host, colon, port = where.partition(":")
    is_port = not colon or (port.isascii() and port.isdigit() and 0 < int(port) <= MAXIMUM_PORT)
    if not DOMAIN.fullmatch(host) or not is_port:
        raise DefinitionError(f"{where[:80]!r} is not a mail server, expected HOST or HOST:PORT")
    return host, int(port) if colon else PORT


def _reason(error: Exception) -> str:
    """Return why a mail was refused, in one line."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "; ".join(
            f"{code} {reason.decode(errors='replace')}" for code, reason in error.recipients.values()
        )
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return f"{error.smtp_code} {said.decode(errors='replace') if isinstance(said, bytes) else said}"
    return str(error).splitlines()[0] if str(error) else type(error).__name__
