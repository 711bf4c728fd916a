"""
Build the site of an archive, unless it stands already.

To find that nothing changed takes no engine, no figures and no trace: `gwa.archive.make_site`, which does the
work, is imported where there is some.
"""

from pathlib import Path

from gwa.archive.site_state import BuildOptions, BuildOutcome, SiteState

__all__ = ["BuildOptions", "BuildOutcome", "build"]


def build(site: Path, out: Path, options: BuildOptions | None = None) -> BuildOutcome:
    """
    Build the archive in the folder *site* into the folder *out*, whole or not at all.

    Raise `DefinitionError` for a catalogue or a page that is wrong, `OutputError` where *out* cannot be made.
    """
    options = options or BuildOptions()
    state = SiteState.of(site, out, options)
    unchanged = state.outcome(out)
    if unchanged:
        return unchanged
    from gwa.archive.make_site import make_site

    return make_site(site, out, options, state)
