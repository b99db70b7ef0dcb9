"""Google Document AI as a Dagster resource: the settings → a parser of PDFs and images."""

import dagster as dg

from rag_pipeline.parsing import Parser
from rag_pipeline.parsing.document_ai import DocumentAiParser, ReplyCache
from rag_pipeline.parsing.parsers import create_parser
from rag_pipeline.resources.project_settings import SettingsResource
from rag_pipeline.usage import UsageMeter


class DocumentAiResource(dg.ConfigurableResource[Parser]):
    """Builds the parser that `parsing.parser` names, or the one of Document AI in any case.

    For assets and notebooks that parse by themselves; the stages of a sync make their own in the
    worker processes.
    """

    settings: dg.ResourceDependency[SettingsResource]

    def parser(self, replies: ReplyCache | None = None, meter: UsageMeter | None = None) -> Parser:
        """Return the parser of the settings: local, Document AI, or one after the other.

        Raises `SettingsError` where Document AI is asked for and no processor is set.
        """
        settings = self.settings.load()
        return create_parser(settings.parsing, settings.document_ai, replies, meter=meter)

    def document_ai(
        self, replies: ReplyCache | None = None, meter: UsageMeter | None = None
    ) -> DocumentAiParser:
        """Return the parser of Document AI, whatever `parsing.parser` is.

        Raises `SettingsError` where no processor is set.
        """
        settings = self.settings.load()
        return DocumentAiParser(settings.document_ai, settings.parsing, replies, meter=meter)
