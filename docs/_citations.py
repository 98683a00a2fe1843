"""The style of the bibliography: entries are labeled by author and year, as pages cite them."""

from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle

STYLE = "eigentext"
_MOST_NAMES = 2  # longer lists of authors are "First et al."


def surname(person: Any) -> str:
    """Return the last name of an author, with the prelast part ("Della Pietra")."""
    return " ".join([*person.prelast_names, *person.last_names])


def label(entry: Any) -> str:
    """Return the label of an entry, such as "Cohen and Collins 2014" or "Hsu et al. 2009"."""
    if "label" in entry.fields:
        return entry.fields["label"]
    names = [surname(person) for person in entry.persons["author"]]
    is_short = len(names) <= _MOST_NAMES and "others" not in names
    authors = " and ".join(names) if is_short else f"{names[0]} et al."
    return f"{authors} {entry.fields.get('year', '')}".strip()


class _Labels(BaseLabelStyle):
    def format_labels(self, sorted_entries: Any) -> Any:
        """Yield the label of each entry."""
        yield from map(label, sorted_entries)


class _Style(Style):
    default_label_style = _Labels
    default_sorting_style = SortingStyle


register_plugin("pybtex.style.formatting", STYLE, _Style)
