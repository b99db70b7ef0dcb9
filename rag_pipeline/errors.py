"""The error tree: one base class to catch, and what each error tells the user.

RagError
├── SettingsError            rag.toml or an environment variable is wrong
├── SourceError              a source folder or file cannot be read
├── ProviderError            a service refuses everything: bad key, no quota left, unknown model
├── ChatError                the chat model gave no (whole) answer to one question
├── BudgetError              a sync would cost more than allowed
├── DocumentError            one document fails; the others go on
│   ├── ParseError           the file cannot be read as a document
│   │   ├── EmptyFileError           zero bytes
│   │   ├── NotAPdfError             the content is not what the name says
│   │   ├── EncryptedPdfError        a password is needed
│   │   ├── DamagedPdfError          truncated or corrupt
│   │   ├── UnsupportedFileError     a format that no reader knows
│   │   ├── DamagedFileError         a file of another format, truncated or corrupt
│   │   ├── UnsafeFileError          a file that would grow without bound
│   │   ├── MissingLibraryError      the format's optional library is not installed
│   │   ├── NoTextError              pages without any readable text
│   │   └── ParserServiceError       a parsing service gave no (whole) answer; tried again
│   ├── ChangedMeanwhileError    the file is not the one that was scanned
│   ├── RemoteFileError          a file elsewhere cannot be copied here
│   ├── ContextError             the chat model gave no context for some chunks
│   ├── UpstreamMissingError     a stage was asked for whose input is not current
│   ├── InternalError            a fault of this program, met by one document
│   ├── WorkerCrashError         the process died on it: a crash in native code, or no memory left
│   └── EmbeddingError       texts could not be embedded
│       └── EmbeddingReplyError      a provider's reply failed the checks
└── StoreError               Postgres or the artifact store
    ├── DatabaseUnavailableError
    │   └── DatabaseLockedError     another program holds a lock for too long
    ├── MigrationError
    └── SyncLockedError      another sync holds the lock
"""

from __future__ import annotations

from collections.abc import Sequence


class RagError(Exception):
    """Base of every error that this package raises on purpose.

    `hint` is the next step for the user; `str(error)` includes it.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class SettingsError(RagError):
    """A setting is missing, unknown or out of range."""


class SourceError(RagError):
    """A source folder or file does not exist or cannot be read."""


class ProviderError(RagError):
    """A service refuses every call: a bad key, no quota left, an unknown model. Ends the sync."""


class ChatError(RagError):
    """The chat model gave no answer, or one that broke off; another question may be answered.

    `text` is what had come up to then, empty where nothing had: never a whole answer.
    """

    def __init__(self, message: str, *, hint: str | None = None, text: str = "") -> None:
        super().__init__(message, hint=hint)
        self.text = text


class BudgetError(RagError):
    """A sync would cost more than `sync.max_cost_usd`; nothing was spent."""


class DocumentError(RagError):
    """One document fails; the others go on.

    `document` is the name that the user knows (a file name), `page` is 1-based.
    A `permanent` error is not tried again until the document or the code changes.
    """

    permanent = True

    def __init__(
        self,
        message: str,
        *,
        document: str | None = None,
        page: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.document = document
        self.page = page

    def __str__(self) -> str:
        place = self.document or ""
        if self.page is not None:
            place = f"{place} page {self.page}".strip()
        text = super().__str__()
        return f"{place}: {text}" if place else text

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders; the default would drop the keyword arguments.
        return (_rebuild, (type(self), self.message, self.document, self.page, self.hint))


def _rebuild(
    kind: type[DocumentError],
    message: str,
    document: str | None,
    page: int | None,
    hint: str | None,
) -> DocumentError:
    return kind(message, document=document, page=page, hint=hint)


class ParseError(DocumentError):
    """The file cannot be read as a document."""


class EmptyFileError(ParseError):
    """The file has zero bytes."""


class NotAPdfError(ParseError):
    """The content is not what the file's name says."""


class EncryptedPdfError(ParseError):
    """A password is needed to open the file."""


class DamagedPdfError(ParseError):
    """The file is truncated or corrupt."""


class UnsupportedFileError(ParseError):
    """By its content the file has a format that no reader knows, or needs a password."""


class DamagedFileError(ParseError):
    """A file of another format than PDF is truncated or corrupt."""


class UnsafeFileError(ParseError):
    """Reading the file takes more than the limits allow: size, pages, memory, time; or a bomb."""


class MissingLibraryError(ParseError):
    """The optional library that reads the format is not installed, or is not as expected."""

    permanent = False


class NoTextError(ParseError):
    """The file opens, but no page has text that can be read."""


class ParserServiceError(ParseError):
    """A parsing service gave no answer in time, or a reply that failed the checks.

    What was paid for up to then is kept, so that the next try asks for the rest only.
    """

    permanent = False


class ChangedMeanwhileError(DocumentError):
    """The file is not the one that was scanned; the next sync takes it as it is then."""

    permanent = False


class RemoteFileError(DocumentError):
    """A file of an object store or a web page cannot be copied here; the next sync tries again."""

    permanent = False


class ContextError(DocumentError):
    """The chat model gave no context for some chunks; the next sync asks for these."""

    permanent = False


class UpstreamMissingError(DocumentError):
    """A stage was asked for alone, and the frame that it reads is absent or outdated."""

    permanent = False


class InternalError(DocumentError):
    """A fault of this program, met by one document; the next sync tries again."""

    permanent = False


class WorkerCrashError(DocumentError):
    """The process died on the document; tried once more, since memory may have been short."""

    permanent = False


class EmbeddingError(DocumentError):
    """Texts could not be embedded; the next sync tries again.

    `bad_texts` are the indices of the texts (or groups) at fault, where it is the texts: all
    others of the call were embedded. Empty, where it is the service or the machine.
    """

    permanent = False

    def __init__(
        self,
        message: str,
        *,
        document: str | None = None,
        page: int | None = None,
        hint: str | None = None,
        bad_texts: Sequence[int] = (),
    ) -> None:
        super().__init__(message, document=document, page=page, hint=hint)
        self.bad_texts = tuple(bad_texts)

    def __reduce__(self) -> tuple[object, ...]:
        return (*super().__reduce__(), {"bad_texts": self.bad_texts})


class EmbeddingReplyError(EmbeddingError):
    """A provider's reply has the wrong count, order, dimensions or values."""


class StoreError(RagError):
    """Postgres or the artifact store failed."""


class DatabaseUnavailableError(StoreError):
    """No connection to Postgres, or it was lost."""


class DatabaseLockedError(DatabaseUnavailableError):
    """Another program holds a lock on the tables; the message names it."""


class MigrationError(StoreError):
    """The schema could not be brought up to date."""


class SyncLockedError(StoreError):
    """Another sync holds the lock."""
