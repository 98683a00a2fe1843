"""What can go wrong, said so that the user knows what to do about it.

Every error that a user can cause derives from :class:`EigentextError`; the command line turns it
into one line and exit status 2. Where Python already has a name for the mistake (``ValueError``,
``KeyError``) the class derives from that too, so ordinary code catches it in the ordinary way.
"""


class EigentextError(Exception):
    """A mistake that the user can mend; the message names the remedy."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class CorpusError(EigentextError, ValueError):
    """Text that cannot be read or holds nothing to learn from; names the file and the line."""


class MomentsError(EigentextError, ValueError):
    """Statistics that cannot be joined or no longer hold what is asked of them."""


class ParameterError(EigentextError, ValueError):
    """A parameter out of its range, or larger than the data supports."""


class ModelFileError(EigentextError, ValueError):
    """A file that is not a whole eigentext model of a version known here."""


class CheckpointError(EigentextError):
    """A folder of checkpoints that cannot be used for this fit."""


class ClusterError(EigentextError):
    """A cluster that cannot be reached, is not fit for the work, or was lost during it."""


class UnknownWordError(EigentextError, KeyError):
    """A word outside the vocabulary; the message suggests near spellings."""
