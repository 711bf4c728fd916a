"""The options by which letters are sent as mail, and the sending."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import click

from gwa.cli._options import OUTPUT_PATH, PATH, F, Options
from gwa.cli._terminal import echo
from gwa.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from email.message import EmailMessage

    from gwa.report.letter import Letter
    from gwa.store.store import Store
    from gwa.util.mail import Addresses, Mailer

SHOWN_NAMES: Final = 20


@dataclass(frozen=True)
class Mailing:
    """Whether and how letters are sent, and to which *addresses*."""

    OPTIONS: ClassVar[frozenset[str]] = frozenset(
        {"mail", "smtp", "addresses", "domain", "sender", "cool_down", "state", "send"}
    )

    addresses: "Addresses"
    has_addresses: bool
    through_sendmail: bool
    smtp: str | None
    sender: str
    cool_down: float
    state: Path | None
    is_sent: bool
    is_of_domain: bool

    @property
    def is_wanted(self) -> bool:
        """Whether mail is asked for, sent or not."""
        return self.through_sendmail or self.smtp is not None

    def check(self, by: str) -> None:
        """Raise a usage error for options that do not go together."""
        if self.through_sendmail and self.smtp:
            raise click.UsageError("expected either --mail, through sendmail, or --smtp HOST")
        if self.is_of_domain and by == "project":
            raise click.UsageError(
                "--domain makes addresses of users: expected --addresses FILE.csv with who manages a project"
            )
        if not self.is_sent:
            return
        if not self.is_wanted:
            raise click.UsageError("--send sends nothing without --mail or --smtp HOST")
        if not self.has_addresses:
            raise click.UsageError("no mail was sent: expected --addresses FILE.csv or --domain DOMAIN")
        if not self.sender or not self.state:
            raise click.UsageError(
                "--send needs --from ADDRESS, whom people reply to, and --state FILE, which notes who was"
                " written to"
            )

    def refuse_pseudonyms(self, store: "Store") -> None:
        """Raise `ArgumentError` where mail is asked for and names are pseudonyms."""
        from gwa.store.privacy import ANONYMIZED_KEY

        if self.is_wanted and ANONYMIZED_KEY in dict(store.header):
            raise ArgumentError(
                "the trace is anonymized: its names are pseudonyms, to whom no mail can be sent"
            )

    def composed(self, letter: "Letter", trace: str, look: dict[str, Any], to: str) -> "EmailMessage":
        """Return a letter as a message to an address."""
        from gwa.report.letter import as_html, as_text, subject
        from gwa.util.mail import compose

        texts = [write(letter, trace, is_mailed=True, **look) for write in (as_text, as_html)]
        return compose(look["language"](subject(letter, trace)), *texts, to=to, sender=self.sender)

    def handle(self, letters: "Sequence[Letter]", trace: str, look: dict[str, Any], *, quiet: bool) -> None:
        """Send the letters that are due, or say what would be; raise `OutputError` if some were refused."""
        from gwa.util.cool_down import CoolDown

        if not self.has_addresses:
            echo(
                "gwa: no mail: expected --addresses FILE.csv or --domain DOMAIN, which say where to", err=True
            )
            return
        noted = CoolDown.read(self.state) if self.state else CoolDown()
        due = [one for one in letters if one.is_due]
        unknown = [one.user for one in due if not self._address(one)]
        early = [one for one in due if self._address(one) and not noted.is_over(_key(one), self.cool_down)]
        ready = [one for one in due if self._address(one) and one not in early]
        if not quiet:
            _tell("without an address", unknown)
            _tell("written to a short time ago", [one.user for one in early])
        if self.is_sent:
            self._send(ready, trace, look, noted, quiet=quiet)
            return
        for one in ready:
            echo(_line(one, self._address(one)))
        if not quiet:
            echo(f"gwa: {_mails(len(ready))} not sent: this is a dry run, --send sends", err=True)

    def _address(self, letter: "Letter") -> str:
        from gwa.store.pseudonyms import is_pseudonym

        return "" if is_pseudonym(letter.user) else self.addresses.of(letter.user) or ""

    def _send(
        self, ready: "Sequence[Letter]", trace: str, look: dict[str, Any], noted: Any, *, quiet: bool
    ) -> None:
        """Send letters one by one; what was accepted is noted at once."""
        from gwa.util.mail import ConnectionLostError

        refused: list[str] = []
        with self._mailer() if ready else _nothing() as mailer:
            for one in ready:
                try:
                    mailer.send(self.composed(one, trace, look, self._address(one)))
                except ConnectionLostError:
                    raise
                except OutputError as error:
                    refused.append(f"{self._address(one)}: {error}")
                    continue
                noted.note(_key(one))
                echo(_line(one, self._address(one)))
        if not quiet:
            echo(f"gwa: {_mails(len(ready) - len(refused))} sent", err=True)
        if refused:
            raise OutputError(f"{_mails(len(refused))} not accepted: {'; '.join(refused)}")

    @contextmanager
    def _mailer(self) -> "Iterator[Mailer]":
        from gwa.util.mail import Sendmail, connected

        if self.smtp:
            with connected(self.smtp) as server:
                yield server
        else:
            yield Sendmail.of_system()


@contextmanager
def _nothing() -> Iterator[Any]:
    """Yield no mailer: there is no mail."""
    yield None


def _key(letter: "Letter") -> str:
    """Return what somebody is called in the file of who was written to."""
    return f"{letter.of} {letter.user}"


def _line(letter: "Letter", address: str) -> str:
    return f"{letter.user} <{address}>: {', '.join(advice.id for advice in letter.advice)}"


def _mails(count: int) -> str:
    return f"{count:,} mail{'' if count == 1 else 's'}"


def _tell(what: str, names: Sequence[str]) -> None:
    """Say on standard error who gets no mail, and why."""
    if names:
        shown = ", ".join(names[:SHOWN_NAMES]) + (", …" if len(names) > SHOWN_NAMES else "")
        echo(f"gwa: {len(names):,} {what}: {shown}", err=True)


def _server(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    from gwa.errors import DefinitionError
    from gwa.util.mail import host_and_port

    try:
        if value is not None:
            host_and_port(value)
    except DefinitionError as error:
        raise click.BadParameter(str(error)) from error
    return value


def _domain(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    from gwa.util.mail import DOMAIN

    if value is not None and not DOMAIN.fullmatch(value):
        raise click.BadParameter(f"is {value[:80]!r}, expected a domain such as example.org")
    return value


def _sender(_: click.Context, __: click.Parameter, value: str) -> str:
    from gwa.util.mail import ADDRESS

    if value and not ADDRESS.fullmatch(value):
        raise click.BadParameter(f"is {value[:80]!r}, expected one address such as support@example.org")
    return value


def _duration(_: click.Context, __: click.Parameter, value: str) -> float:
    from gwa.util.durations import duration

    seconds = duration(value)
    if seconds is None:
        raise click.BadParameter(f"is {value[:80]!r}, expected a time such as 14d or 12h")
    return seconds


OPTIONS: Final = Options(
    click.option("--mail", is_flag=True, help="Mail the letters that are due through the system's sendmail."),
    click.option(
        "--smtp", metavar="HOST[:PORT]", callback=_server, help="Mail them through this server instead."
    ),
    click.option(
        "--addresses",
        type=PATH,
        metavar="FILE.csv",
        help="Addresses: columns user (or project), address.",
    ),
    click.option("--domain", metavar="DOMAIN", callback=_domain, help="Address of all others: USER@DOMAIN."),
    click.option(
        "--from", "sender", metavar="ADDRESS", default="", callback=_sender, help="Whom people reply to."
    ),
    click.option(
        "--cool-down",
        metavar="TIME",
        default="14d",
        callback=_duration,
        help="Time for which people are not written to again; 14d by default.",
    ),
    click.option(
        "--state",
        type=OUTPUT_PATH,
        metavar="FILE",
        help="File in which is noted who was written to when.",
    ),
    click.option(
        "--send/--dry-run",
        default=False,
        help="Send the mail, or only say what would be sent (the default).",
    ),
)


def mailing(command: F) -> F:
    """Add the options of mail, which the command gets as one `Mailing` called *mails*."""

    @wraps(command)
    def made(
        *arguments: Any, mail: bool, smtp: str | None, addresses: Path | None, domain: str | None,
        sender: str, cool_down: float, state: Path | None, send: bool, **params: Any,
    ) -> Any:  # fmt: skip
        from gwa.util.mail import Addresses, read_addresses

        stated = read_addresses(addresses, params["by"]) if addresses else {}
        mails = Mailing(
            Addresses(stated, domain or ""), bool(addresses or domain), mail, smtp, sender, cool_down, state,
            send, bool(domain),
        )  # fmt: skip
        return command(*arguments, mails=mails, **params)

    return OPTIONS(cast("F", made))
