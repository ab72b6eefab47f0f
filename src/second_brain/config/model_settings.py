"""The settings of what is optional: a language model, and the work of the night."""

from __future__ import annotations

from dataclasses import dataclass, field

from second_brain.config import rules
from second_brain.config.about import about


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model that may be asked. Without an address there is none."""

    url: str | None = field(
        default=None,
        metadata=about(
            "Address of a server that speaks the OpenAI chat protocol, up to `/v1`.",
            env="LLM_URL",
            flag="--llm-url",
            check=rules.web_address,
            shown_default="none: no language model is used",
        ),
    )
    model: str | None = field(
        default=None,
        metadata=about(
            "Name of its model.", env="LLM_MODEL", flag="--llm-model", check=rules.not_blank
        ),
    )
    api_key: str | None = field(
        default=None,
        repr=False,
        metadata=about(
            "Key that the server wants.", env="LLM_API_KEY", check=rules.token, secret=True
        ),
    )
    timeout_seconds: int = field(
        default=60,
        metadata=about(
            "Longest wait for one answer.", env="LLM_TIMEOUT_SECONDS", minimum=1, maximum=3600
        ),
    )
    context_tokens: int = field(
        default=8192,
        metadata=about(
            "How much the model reads at once; with Ollama, its `OLLAMA_CONTEXT_LENGTH`.",
            env="LLM_CONTEXT_TOKENS",
            minimum=3000,
            maximum=2_000_000,
        ),
    )
    calls_per_day: int = field(
        default=500,
        metadata=about(
            "Most questions to the model a day; 0 for no limit.",
            env="LLM_CALLS_PER_DAY",
            minimum=0,
            maximum=1_000_000,
        ),
    )
    tokens_per_day: int = field(
        default=1_000_000,
        metadata=about(
            "Most tokens a day, both ways together; 0 for no limit.",
            env="LLM_TOKENS_PER_DAY",
            minimum=0,
            maximum=1_000_000_000,
        ),
    )


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """What is done once a night."""

    enabled: bool = field(
        default=True,
        metadata=about("Tidy up once a day, at a quiet hour.", env="MAINTENANCE"),
    )
    hour: int = field(
        default=3,
        metadata=about(
            "Hour from which on it is done; if the machine sleeps then, when it is awake.",
            env="MAINTENANCE_HOUR",
            minimum=0,
            maximum=23,
        ),
    )
    report: bool = field(
        default=False,
        metadata=about(
            "Write what was done and found into a note each time; it is no memory.",
            env="MAINTENANCE_REPORT",
        ),
    )
