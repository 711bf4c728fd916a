"""The options by which letters are sent as mail, and the sending."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import click

from gwa.cli._options import F, Options, flag, reads, takes, writes
from gwa.cli._terminal import echo
from gwa.errors import ArgumentError, OutputError

if TYPE_CHECKING:
    from email.message import EmailMessage

    from gwa.report.letter import Letter
    from gwa.store.store import Store
    from gwa.util.cool_down import CoolDown
    from gwa.util.mail import Addresses, Mailer

SHOWN_NAMES: Final = 20

EARLY: Final = "written to a short time ago"


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
        from gwa.util.mail import is_person

        if not self.has_addresses:
            echo(
                "gwa: no mail: expected --addresses FILE.csv or --domain DOMAIN, which say where to", err=True
            )
            return
        noted = CoolDown.read(self.state) if self.state else CoolDown()
        due = [one for one in letters if one.is_due]
        addresses = self.addresses_of(due)
        others = [one.user for one in due if one.user not in addresses]
        doubled = [name for name in others if self._address(name)]
        early = [one for one in due if one.user in addresses and not noted.is_over(_key(one), self.cool_down)]
        ready = [one for one in due if one.user in addresses and one not in early]
        if not quiet:
            nobodies = [name for name in others if self.is_of_domain and not self._address(name)]
            nobodies = [name for name in nobodies if not is_person(name)]
            _tell("without an address", [name for name in others if name not in {*doubled, *nobodies}])
            _tell("no people, whose addresses --addresses may state", nobodies)
            _tell("of whom another spelling gets the letter", doubled)
            _tell(EARLY, [one.user for one in early])
        if self.is_sent:
            self._send([(one, addresses[one.user]) for one in ready], trace, look, noted, quiet=quiet)
            return
        for one in ready:
            echo(_line(one, addresses[one.user]))
        if not quiet:
            echo(f"gwa: {_mails(len(ready))} not sent: this is a dry run, --send sends", err=True)

    def addresses_of(self, letters: "Iterable[Letter]") -> dict[str, str]:
        """
        Return the address of each who gets a letter.

        Of users whose names differ only in capitals, as their addresses do, it is the one of most hours:
        mail systems deliver those to one person.
        """
        found: dict[tuple[str, str], Letter] = {}
        for one in sorted(letters, key=lambda one: (-one.cpu_hours, one.user)):
            if address := self._address(one.user):
                found.setdefault((one.user.lower() if one.of == "user" else one.user, address.lower()), one)
        return {one.user: self._address(one.user) for one in found.values()}

    def _address(self, name: str) -> str:
        from gwa.store.pseudonyms import is_pseudonym

        return "" if is_pseudonym(name) else self.addresses.of(name) or ""

    def _send(
        self,
        ready: "Sequence[tuple[Letter, str]]",
        trace: str,
        look: dict[str, Any],
        noted: "CoolDown",
        *,
        quiet: bool,
    ) -> None:
        """
        Send letters to their addresses one by one; what was accepted is noted at once.

        Another command may be sending by the same state: who got a letter from that is left out.
        """
        from gwa.util.mail import ConnectionLostError

        refused: list[str] = []
        early: list[str] = []
        with self._mailer() if ready else _nothing() as mailer:
            for one, address in ready:
                with noted.alone(lambda said: echo(f"gwa: {said}", err=True)):
                    if not noted.is_over(_key(one), self.cool_down):
                        early.append(one.user)
                        continue
                    try:
                        mailer.send(self.composed(one, trace, look, address))
                    except ConnectionLostError:
                        raise
                    except OutputError as error:
                        refused.append(f"{address}: {error}")
                        continue
                    noted.note(_key(one))
                echo(_line(one, address))
        if not quiet:
            _tell(EARLY, early)
            echo(f"gwa: {_mails(len(ready) - len(refused) - len(early))} sent", err=True)
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
    return f"{letter.of} {letter.user.lower() if letter.of == 'user' else letter.user}"


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
    flag("--mail", "Mail the letters that are due through the system's sendmail."),
    takes("--smtp", "HOST[:PORT]", "Mail them through this server instead.", callback=_server),
    reads("--addresses", "FILE.csv", "Addresses: columns user (or project), address."),
    click.option("--domain", metavar="DOMAIN", callback=_domain, help="Address of all others: USER@DOMAIN."),
    takes("--from sender", "ADDRESS", "Whom people reply to.", default="", callback=_sender),
    takes(
        "--cool-down",
        "TIME",
        "Time for which people are not written to again; 14d by default.",
        default="14d",
        callback=_duration,
    ),
    writes("--state", "FILE", "File in which is noted who was written to when."),
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
