"""Directory for the files of a result."""

from __future__ import annotations

import shutil
import weakref
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import os
    from types import TracebackType

ResultT = TypeVar("ResultT")


class ResultDirectory:
    """Directory for the files of a result: the caller's, or a temporary one.

    As a context manager it removes a temporary one at the end, unless that goes with a result.

    Attributes
    ----------
    path
        The directory.
    """

    def __init__(self, out: str | os.PathLike[str] | None, prefix: str) -> None:
        self.path = Path(mkdtemp(prefix=prefix) if out is None else out)
        self._removal = ExitStack()
        if out is None:
            self._removal.callback(shutil.rmtree, self.path, ignore_errors=True)

    def __enter__(self) -> ResultDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._removal.close()

    def goes_with(self, result: ResultT) -> ResultT:
        """Keep a temporary directory until a result is gone, and return that result.

        A caller returns it at once: a local name would keep it for as long as anybody keeps the
        caller's frame.
        """
        weakref.finalize(result, self._removal.pop_all().close)
        return result
