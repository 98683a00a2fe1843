"""The errors of the library. Each message says what to do about it.

Every error that a user can cause derives from :class:`EigentextError`; the command line turns it
into one line and exit status 2. Where Python already has a name for the mistake (``ValueError``,
``KeyError``) the class derives from that too, so ordinary code catches it in the ordinary way.
"""


class EigentextError(Exception):
    """A mistake that the user can correct. The message names the remedy."""

    def __str__(self) -> str:
        # KeyError would print the repr of the message.
        return str(self.args[0]) if self.args else ""


class CorpusError(EigentextError, ValueError):
    """Text that cannot be read, or has nothing to learn from. Names the file and the line."""


class MomentsError(EigentextError, ValueError):
    """Statistics that cannot be added, or that lack what was asked for."""


class ParameterError(EigentextError, ValueError):
    """A parameter outside its range, or larger than the data supports."""


class ModelFileError(EigentextError, ValueError):
    """A file that is not a complete eigentext model of a known version."""


class CheckpointError(EigentextError):
    """A checkpoint folder that this fit cannot use."""


class ClusterError(EigentextError):
    """A Dask cluster that cannot be reached, cannot do the work, or was lost during it."""


class UnknownWordError(EigentextError, KeyError):
    """A word outside the vocabulary. The message suggests similar spellings."""


class BadItemsWarning(UserWarning):
    """Some items of a file were skipped, because they are not what the reader reads."""


class LittleDataWarning(UserWarning):
    """The data are too few for the model that was asked for. `findings` says the same."""
