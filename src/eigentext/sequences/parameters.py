"""The parameters of models of sequences."""

from eigentext.parameters import Count, Table

KneserNey = Table(
    "KneserNey",
    order=Count(3, help="Words in the longest n-gram."),
    min_count=Count(1, help="Rarer words share one symbol."),
)
