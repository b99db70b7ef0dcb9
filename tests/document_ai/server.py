"""Document AI on this machine: answers the real client over gRPC, with faults as scripted.

The server renders nothing: a test gives it the reply for the whole file, and it hands out the pages
that a request selects, or those of the file that a request sends, as the service does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any

import grpc
import pypdfium2 as pdfium
from google.cloud import documentai_v1 as documentai
from google.longrunning import operations_pb2
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.json_format import MessageToDict
from google.rpc import code_pb2, error_details_pb2, status_pb2

from rag_pipeline.parsing.pdf.native.pdf_opening import PDFIUM_LOCK

SERVICE = "google.cloud.documentai.v1.DocumentProcessorService"
Change = Callable[[Any], None]
PATIENCE = 90.0
"""Seconds that a call waits for what a test lets happen."""


@dataclass
class Fault:
    """What goes wrong with one call: an error status, a delay, or a change of the reply."""

    code: str | None = None
    message: str = "injected"
    retry_after: float | None = None
    delay: float = 0.0
    """Seconds; the server's end ends them."""
    cut_bytes: int = 0
    """Bytes missing at the end of the reply's message."""
    change: Change | None = None
    """Changes the reply's raw `Document`."""
    violations: tuple[tuple[str, str], ...] = ()
    """Field and description, of INVALID_ARGUMENT."""
    until: threading.Event | threading.Barrier | None = None
    """The call waits for it."""


@dataclass
class Call:
    """One request as it arrived."""

    pages: list[int]
    """Pages selected; empty where the whole file was meant."""
    sent_pages: int
    """Pages of the file that was sent."""
    size: int
    imageless: bool
    fields: list[str]
    name: str
    options: dict[str, Any]
    """Those that are set."""
    seconds: float


@dataclass
class DocumentAiServer:
    """Serves `reply`, a raw `Document` of the whole source. Use as a context manager."""

    reply: Any
    faults: list[Fault] = field(default_factory=list)
    """Taken in order, one by each call."""
    max_pages: int = 15
    renumber_split: bool = True
    """A file of some pages is answered with numbers from 1, as the service does."""
    find_pages: Callable[[bytes], list[int]] | None = None
    """Which pages of the source a file of some pages holds; by default those its text says."""
    answer: Callable[[bytes], Any] | None = None
    """Makes the raw `Document` for the file that is sent, instead of pages of `reply`."""
    run_job: Callable[[documentai.BatchProcessRequest], None] | None = None
    """Writes what a batch job writes."""
    calls: list[Call] = field(default_factory=list)
    jobs: list[documentai.BatchProcessRequest] = field(default_factory=list)
    job_polls: int = 1
    """How often a job is asked for before it is done."""
    job_error: str = ""
    forget_jobs: bool = False

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._polls: dict[str, int] = {}
        self._server = grpc.server(
            futures.ThreadPoolExecutor(8),
            options=[
                ("grpc.max_receive_message_length", -1),
                ("grpc.max_send_message_length", -1),
            ],
        )
        self._server.add_generic_rpc_handlers((self._documents(), self._operations()))
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    @property
    def endpoint(self) -> str:
        """What `document_ai.endpoint` is set to."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> DocumentAiServer:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.stop(0)

    def pages_asked(self) -> list[int]:
        """All pages of all calls, sorted."""
        return sorted(page for call in self.calls for page in call.pages)

    def _documents(self) -> Any:
        def serialize(answer: tuple[Any, int]) -> bytes:
            message, cut = answer
            data = type(message).serialize(message)
            return data[: len(data) - cut] if cut else data

        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "ProcessDocument": grpc.unary_unary_rpc_method_handler(
                    self._process, documentai.ProcessRequest.deserialize, serialize
                ),
                "BatchProcessDocuments": grpc.unary_unary_rpc_method_handler(
                    self._batch,
                    documentai.BatchProcessRequest.deserialize,
                    operations_pb2.Operation.SerializeToString,
                ),
            },
        )

    def _operations(self) -> Any:
        return grpc.method_handlers_generic_handler(
            "google.longrunning.Operations",
            {
                "GetOperation": grpc.unary_unary_rpc_method_handler(
                    self._operation,
                    operations_pb2.GetOperationRequest.FromString,
                    operations_pb2.Operation.SerializeToString,
                )
            },
        )

    def _next_fault(self) -> Fault:
        with self._lock:
            return self.faults.pop(0) if self.faults else Fault()

    def _process(self, request: documentai.ProcessRequest, context: Any) -> tuple[Any, int]:
        content = request.raw_document.content
        selected = list(request.process_options.individual_page_selector.pages)
        sent = _page_count(content)
        with self._lock:
            self.calls.append(
                Call(
                    selected,
                    sent,
                    len(content),
                    request.imageless_mode,
                    list(request.field_mask.paths),
                    request.name,
                    MessageToDict(
                        documentai.ProcessOptions.pb(request.process_options),
                        preserving_proto_field_name=True,
                    ),
                    time.monotonic(),
                )
            )
        fault = self._next_fault()
        if fault.until is not None:
            fault.until.wait(PATIENCE)
        if fault.delay:
            self._ended.wait(fault.delay)
        if fault.code:
            _refuse(context, fault)
        if (count := len(selected) or sent) > self.max_pages:
            _refuse(
                context,
                Fault(
                    "INVALID_ARGUMENT",
                    f"Document pages exceed the limit: {self.max_pages} got {count}",
                ),
            )
        if self.answer is not None:
            document = self.answer(content)
        else:
            document = self._answer(content, selected, sent)
        if fault.change:
            fault.change(document)
        response = documentai.ProcessResponse()
        documentai.ProcessResponse.pb(response).document.CopyFrom(document)
        return response, fault.cut_bytes

    def _answer(self, content: bytes, selected: list[int], sent: int) -> Any:
        """The pages that are meant, with the text of those pages alone."""
        wanted = selected or list(range(1, sent + 1))
        is_part = not selected and self.find_pages is not None
        if is_part and self.find_pages is not None:
            wanted = self.find_pages(content)
        document = type(self.reply)()
        document.CopyFrom(self.reply)
        kept = [page for page in document.pages if page.page_number in wanted]
        if is_part and self.renumber_split:
            for page in kept:
                page.page_number = wanted.index(page.page_number) + 1
        del document.pages[:]
        document.pages.extend(kept)
        return document

    def _batch(self, request: documentai.BatchProcessRequest, context: Any) -> Any:
        fault = self._next_fault()
        if fault.code:
            _refuse(context, fault)
        with self._lock:
            self.jobs.append(request)
            name = f"projects/p/locations/us/operations/{len(self.jobs)}"
        if self.run_job is not None:
            self.run_job(request)
        return operations_pb2.Operation(name=name)

    def _operation(self, request: operations_pb2.GetOperationRequest, context: Any) -> Any:
        fault = self._next_fault()
        if fault.code:
            _refuse(context, fault)
        if self.forget_jobs:
            _refuse(context, Fault("NOT_FOUND", "no such operation"))
        with self._lock:
            polls = self._polls[request.name] = self._polls.get(request.name, 0) + 1
        operation = operations_pb2.Operation(name=request.name)
        if polls >= self.job_polls:
            operation.done = True
            if self.job_error:
                operation.error.CopyFrom(status_pb2.Status(code=3, message=self.job_error))
            else:
                operation.response.Pack(status_pb2.Status())
        return operation


def _page_count(content: bytes) -> int:
    if b"%PDF-" not in content[:1024]:
        return 1
    with PDFIUM_LOCK:
        pdf = pdfium.PdfDocument(content)
        count = len(pdf)
        pdf.close()
    return count


def _refuse(context: Any, fault: Fault) -> None:
    """End the call with a status and its details, as Google's services send them."""
    assert fault.code is not None
    status = status_pb2.Status(code=code_pb2.Code.Value(fault.code), message=fault.message)
    if fault.retry_after is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(round(fault.retry_after * 1e9))
        _add(status, error_details_pb2.RetryInfo(retry_delay=delay))
    if fault.violations:
        violation = error_details_pb2.BadRequest.FieldViolation
        _add(
            status,
            error_details_pb2.BadRequest(
                field_violations=[
                    violation(field=name, description=text) for name, text in fault.violations
                ]
            ),
        )
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(getattr(grpc.StatusCode, fault.code), fault.message)


def _add(status: Any, detail: Any) -> None:
    packed = any_pb2.Any()
    packed.Pack(detail)
    status.details.append(packed)
