"""Settings and pages → requests of the service."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from rag_pipeline.errors import SettingsError
from rag_pipeline.parsing.document_ai.service.page_ranges import PageRange
from rag_pipeline.settings import DocumentAiSettings

if TYPE_CHECKING:
    from google.cloud import documentai_v1 as documentai

PAGE_FIELDS = (
    "page_number",
    "dimension",
    "layout",
    "detected_languages",
    "transforms",
    "blocks",
    "paragraphs",
    "lines",
    "tokens",
    "tables",
    "form_fields",
    "visual_elements",
)
"""Everything that is read of a page; images would be nine tenths of a reply."""
FIELDS = ("text", "mime_type", "error", *(f"pages.{name}" for name in PAGE_FIELDS))
LAYOUT_FIELDS = ("text", "mime_type", "error", "document_layout")


def processor_name(settings: DocumentAiSettings) -> str:
    """Full name of the processor, with its version if one is set.

    >>> processor_name(DocumentAiSettings(project="p", location="eu", processor="1f"))
    'projects/p/locations/eu/processors/1f'
    >>> processor_name(DocumentAiSettings(processor="projects/p/locations/us/processors/1f",
    ...     processor_version="rc"))
    'projects/p/locations/us/processors/1f/processorVersions/rc'

    Raises `SettingsError` if the settings name no processor.
    """
    name = settings.processor.strip("/")
    if "/" not in name:
        if not (settings.project and name):
            missing = "processor" if settings.project else "project"
            raise SettingsError(
                f"document_ai.{missing} is not set",
                hint="docs/document-ai.md tells how to create a processor; or set"
                ' parsing.parser = "local"',
            )
        name = f"projects/{settings.project}/locations/{settings.location}/processors/{name}"
    if settings.processor_version and "/processorVersions/" not in name:
        name += f"/processorVersions/{settings.processor_version}"
    return name


def location_of(settings: DocumentAiSettings) -> str:
    """Where the processor is, from its full name or else from the setting."""
    parts = processor_name(settings).split("/")
    return parts[3] if len(parts) > 3 else settings.location


def processing_hash(settings: DocumentAiSettings) -> str:
    """Hash of everything that affects replies: processor, version, options."""
    described = {
        "processor": processor_name(settings),
        "type": settings.processor_type,
        "hints": settings.language_hints,
        "native": settings.native_pdf_text,
        "style": settings.style_info,
        "math": settings.math,
        "fields": _fields(settings),
    }
    text = json.dumps(described, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _fields(settings: DocumentAiSettings) -> tuple[str, ...]:
    return LAYOUT_FIELDS if settings.processor_type == "layout_parser" else FIELDS


def add_ons(settings: DocumentAiSettings) -> int:
    """How many paid add-ons of OCR are requested."""
    if settings.processor_type != "ocr":
        return 0
    return int(settings.style_info) + int(settings.math)


def process_options(
    settings: DocumentAiSettings, pages: PageRange | None
) -> documentai.ProcessOptions:
    """Options of a request; `pages` selects pages of the file that is sent, None takes all."""
    from google.cloud import documentai_v1 as documentai

    options = documentai.ProcessOptions()
    if pages is not None:
        options.individual_page_selector = documentai.ProcessOptions.IndividualPageSelector(
            pages=list(pages)
        )
    if settings.processor_type == "layout_parser":
        options.layout_config = documentai.ProcessOptions.LayoutConfig(return_bounding_boxes=True)
        return options
    ocr = documentai.OcrConfig()
    if settings.language_hints:
        ocr.hints = documentai.OcrConfig.Hints(language_hints=settings.language_hints)
    if settings.native_pdf_text:
        ocr.enable_native_pdf_parsing = True
    if add_ons(settings):
        ocr.premium_features = documentai.OcrConfig.PremiumFeatures(
            compute_style_info=settings.style_info, enable_math_ocr=settings.math
        )
    if ocr != documentai.OcrConfig():
        options.ocr_config = ocr  # not even an empty one for processors other than OCR and forms
    return options


def process_request(
    settings: DocumentAiSettings, content: bytes, mime_type: str, pages: PageRange | None
) -> documentai.ProcessRequest:
    """An online request for a whole file, or for some of its pages."""
    from google.cloud import documentai_v1 as documentai
    from google.protobuf.field_mask_pb2 import FieldMask

    return documentai.ProcessRequest(
        name=processor_name(settings),
        raw_document=documentai.RawDocument(content=content, mime_type=mime_type),
        field_mask=FieldMask(paths=list(_fields(settings))),
        process_options=process_options(settings, pages),
        imageless_mode=settings.imageless,
    )


def batch_request(
    settings: DocumentAiSettings, input_uri: str, mime_type: str, output_uri: str
) -> documentai.BatchProcessRequest:
    """A batch job over all pages of one file in Cloud Storage."""
    from google.cloud import documentai_v1 as documentai
    from google.protobuf.field_mask_pb2 import FieldMask

    # `shard_info` gives the order of the files that the job writes.
    output = documentai.DocumentOutputConfig.GcsOutputConfig(
        gcs_uri=output_uri, field_mask=FieldMask(paths=[*_fields(settings), "shard_info"])
    )
    source = documentai.GcsDocument(gcs_uri=input_uri, mime_type=mime_type)
    return documentai.BatchProcessRequest(
        name=processor_name(settings),
        input_documents=documentai.BatchDocumentsInputConfig(
            gcs_documents=documentai.GcsDocuments(documents=[source])
        ),
        document_output_config=documentai.DocumentOutputConfig(gcs_output_config=output),
        process_options=process_options(settings, None),
    )
