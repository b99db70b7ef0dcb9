"""One typed settings tree: defaults < rag.toml < environment (`RAG_…`, nested by `__`) < arguments.

`Settings.load()` reads `rag.toml` in the project folder. Every field has a default, so that nothing
needs to be set to start. Secrets come from the environment only.
"""

from rag_pipeline.settings.document_stages import (
    ChunkingSettings,
    DocumentAiSettings,
    ParsingSettings,
    StructureSettings,
)
from rag_pipeline.settings.models import (
    KEY_VARIABLES,
    ChatSettings,
    EmbeddingSettings,
    chat_provider,
)
from rag_pipeline.settings.project import (
    OTHER_VARIABLES,
    SETTINGS_FILE,
    Settings,
    SyncSettings,
    find_project_dir,
)
from rag_pipeline.settings.query_layer import (
    AnsweringSettings,
    ClauseWeights,
    EvaluationSettings,
    RelevanceSettings,
    RerankerSettings,
    ResultExpansion,
    ResultSelection,
    SearchSettings,
    SearchWeights,
)
from rag_pipeline.settings.section import Section
from rag_pipeline.settings.security import (
    PUBLIC,
    SecuritySettings,
    common_readers,
    may_read,
)
from rag_pipeline.settings.server import (
    TOKEN_PREFIX,
    McpSettings,
    ServeSettings,
    TokenSettings,
)
from rag_pipeline.settings.setting_words import SettingDescription, describe_settings
from rag_pipeline.settings.source_roots import (
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    DOCUMENT_ENDINGS,
    SOURCE_CODE,
    ParserName,
    RelationalSettings,
    SourceSettings,
    StrategyName,
    WebSettings,
)

__all__ = [
    "DEFAULT_EXCLUDE",
    "DEFAULT_INCLUDE",
    "DOCUMENT_ENDINGS",
    "KEY_VARIABLES",
    "OTHER_VARIABLES",
    "PUBLIC",
    "SETTINGS_FILE",
    "SOURCE_CODE",
    "TOKEN_PREFIX",
    "AnsweringSettings",
    "ChatSettings",
    "ChunkingSettings",
    "ClauseWeights",
    "DocumentAiSettings",
    "EmbeddingSettings",
    "EvaluationSettings",
    "McpSettings",
    "ParserName",
    "ParsingSettings",
    "RelationalSettings",
    "RelevanceSettings",
    "RerankerSettings",
    "ResultExpansion",
    "ResultSelection",
    "SearchSettings",
    "SearchWeights",
    "Section",
    "SecuritySettings",
    "ServeSettings",
    "SettingDescription",
    "Settings",
    "SourceSettings",
    "StrategyName",
    "StructureSettings",
    "SyncSettings",
    "TokenSettings",
    "WebSettings",
    "chat_provider",
    "common_readers",
    "describe_settings",
    "find_project_dir",
    "may_read",
]
