"""What a text itself says of its kind and its weight: words of decision, preference and warning,
dates and times of what happened. English and French, pure, by rules.

They tell only what the words show. What has no mark stays open, for a model or for the user; a
word that is denied ("not important"), asked about or undecided marks nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from second_brain.memory.model import Kind
from second_brain.memory.statements import sentences

ORDINARY = 3
"""The importance of a text without a mark that says otherwise."""

_READ_SENTENCES = 4
_READ_CHARACTERS = 800
"""A long text is about what it begins with; a strong word far down is about something in it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """None is what the words do not tell; `why` names the words that told."""

    kind: Kind | None = None
    importance: int | None = None
    canonical: bool = False
    why: tuple[str, ...] = ()


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)", re.IGNORECASE)


_CANONICAL = _any(
    r"source of truth|authoritative|final decision|official version|(?:is|are) canonical",
    r"canonical (?:version|source|reference|spelling|form|definition|list|answer)",
    r"source de vérité|fai(?:t|sant|re) foi|décision définitive|version officielle",
    r"référence officielle",
)
_DECIDED = _any(
    r"decided|decision|(?:we|i|they|team|board) (?:have )?(?:chose|chosen|agreed)",
    r"agreed (?:to|on|that|with)|settled on|from now on|signed off|approved",
    r"(?:we|i)(?:'ll| will| shall| are going to) (?:use|switch to|move to|go with)",
    r"décidé(?:e|es|s)?|décision|décidons|acté(?:e|es|s)?|tranché|convenu(?:e|s)?",
    r"validé(?:e|es|s)?",
    r"(?:nous avons|on a|j'ai) (?:choisi|retenu|opté)|désormais|dorénavant|on part sur",
)
_VITAL = _any(
    r"allergic to|allergy to|allergies|life[- ]threatening|emergency (?:number|contact|exit)",
    r"under no circumstances",
    r"allergiques? (?:à|au|aux)|allergies? (?:à|au|aux)|en aucun cas|sous aucun prétexte",
    r"numéro d'urgence|danger de mort|mortel(?:le)?s? (?:si|en cas)",
)
_WEIGHTY = _any(
    r"mandatory|deadline|required by law|must not|must never|key fact",
    r"impérati(?:f|ve|vement)|obligatoires?|échéance|date limite",
    r"ne (?:doit|doivent) (?:pas|jamais)",
)
_SLIGHT = _any(
    r"unimportant|not (?:so |very |that )?important|not urgent|no big deal",
    r"sans importance|pas (?:si |très )?important(?:e|s)?|pas urgent(?:e|s)?",
)
_OPENINGS = {
    "vital": re.compile(
        r"\W*(?:very |most |point |très )?(?:critical|crucial|vital|danger|critique)\b *[:!—–]",
        re.IGNORECASE,
    ),
    "weighty": re.compile(
        r"\W*(?:(?:very |très )?important\b *[:!—–]|(?:please )?(?:do not|don't) forget"
        r"|(?:à )?ne pas oublier|n'oublie[zr]? pas)",
        re.IGNORECASE,
    ),
    "slight": re.compile(
        r"\W*(?:fyi|just a thought|random (?:thought|idea)|for what it's worth|pour info"
        r"|simple (?:idée|remarque)|idée en l'air|anecdote)(?!\w)",
        re.IGNORECASE,
    ),
}
"""Words that weigh only where a sentence begins with them: in passing, much is "important"."""
_PREFERRED = _any(
    r"prefers?|preferred|preference|favou?rites?|likes|dislikes|hates|loves|enjoys|would rather",
    r"can't stand|vegetarian|vegan|fond of",
    r"préfèr(?:e|es|ent)|préféré(?:e|s|es)?|préférence|favori(?:te|s|tes)?|aime(?:nt)?|déteste(?:nt)?",
    r"adore(?:nt)?|végétarien(?:ne)?|végane?|ne supporte pas",
)
_LASTING = _any(
    r"every|each|always|usually|never|daily|weekly|monthly|yearly|by default",
    r"per (?:day|week|month|year)|chaque|tous les|toutes les|toujours|d'habitude|jamais|par défaut",
    r"par (?:jour|semaine|mois|an)",
    r"password|phone number|address|birthday|is called|stands for|consists of|means",
    r"mot de passe|numéro de téléphone|adresse|anniversaire|s'appelle|signifie|se compose de",
)

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)"
)
_DAY = (
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
)
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er)?(?: of)? {_MONTH}|{_MONTH} \d{{1,2}})"
)
_CLOCK = r"(?:\d{1,2}:\d\d|\d{1,2} ?(?:am|pm)|\d{1,2} ?h(?: ?\d\d)?)"
_OPENS_DATED = re.compile(
    r"\W*(?:today|yesterday|tonight|this (?:morning|afternoon|evening|week|month)"
    r"|last (?:night|week|month|year|\w+day)|(?:two|three|a few) (?:days|weeks) ago"
    r"|aujourd'hui|hier|avant-hier|ce (?:matin|soir|midi)|cet après-midi|cette (?:nuit|semaine)"
    rf"|la semaine dernière|le mois dernier|{_DAY} dernier"
    rf"|(?:on |le |du )?(?:{_DAY},? )?(?:the )?{_DATE})(?!\w)",
    re.IGNORECASE,
)
_NAME = r"(?-i:[A-ZÀ-Ý][^\W\d_]+)"
_HAPPENED = _any(
    rf"(?:we|i|he|she|they|{_NAME}) (?:just )?(?:met|went|visited|called|talked|spoke|discussed"
    r"|attended|travelled|traveled|arrived|left|bought|finished|launched|released|shipped|fixed"
    r"|broke|crashed|had (?:a|an|dinner|lunch|breakfast)|saw|told|asked|sent|took|signed)",
    rf"(?:nous avons|on a|j'ai|il a|elle a|ils ont|elles ont|{_NAME} a) (?:rencontré|vu|visité"
    r"|appelé|parlé|discuté|acheté|fini|terminé|lancé|livré|réparé|cassé|dit|demandé|envoyé|pris"
    r"|signé|mangé|dîné|déjeuné|passé)(?:e|s|es)?",
    rf"(?:nous sommes|je suis|il est|elle est|ils sont|on est|{_NAME} est) (?:allé|parti|arrivé"
    r"|venu|rentré|tombé|sorti)(?:e|s|es)?",
)
_APPOINTED = re.compile(
    rf"(?:{_DATE}|{_DAY} \d|\btomorrow\b|\bdemain\b).{{0,40}}?(?<![\w:]){_CLOCK}(?!\w)"
    rf"|(?<![\w:]){_CLOCK}.{{0,25}}?(?:{_DATE}|\btomorrow\b|\bdemain\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|no|never|without|nothing|less|nor|yet to"
    r"|un|if|whether|pas|non|jamais|sans|aucune?|rien|moins|ni|si)|n't)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\A\W*(?:yet|encore)\b|undecided|indécis|to be decided|à décider", re.I)


def marks_of(text: str, title: str = "") -> Marks:
    """What the beginning of a text shows; its title is read as its first sentence."""
    beginning = f"{title}\n\n{text[:_READ_CHARACTERS]}".replace("’", "'")
    read = [s for s in sentences(beginning) if not s.rstrip("\"'»”)] ").endswith("?")]
    read = read[: _READ_SENTENCES + bool(title)]
    found = {
        name: word
        for name, pattern in _PATTERNS.items()
        if (word := _first(pattern, read, denied=name != "slight")) is not None
    }
    for name, opening in _OPENINGS.items():
        for match in filter(None, map(opening.match, read)):
            found.setdefault(name, match[0].strip(" :!—–"))
    return Marks(
        kind=_kind(found, read),
        importance=_importance(found),
        canonical="canonical" in found,
        why=tuple(found.values()),
    )


_PATTERNS = {
    "canonical": _CANONICAL,
    "decided": _DECIDED,
    "vital": _VITAL,
    "weighty": _WEIGHTY,
    "slight": _SLIGHT,
    "preferred": _PREFERRED,
    "lasting": _LASTING,
}


def _first(pattern: re.Pattern[str], read: list[str], *, denied: bool) -> str | None:
    for sentence in read:
        for match in pattern.finditer(sentence):
            before, after = sentence[: match.start()], sentence[match.end() :]
            if denied and (_DENIED.search(before) or _OPEN.search(after)):
                continue
            return match[0]
    return None


def _importance(found: dict[str, str]) -> int | None:
    if "slight" in found:
        return 2
    if "vital" in found or "canonical" in found:
        return 5
    if "decided" in found or "weighty" in found:
        return 4
    return ORDINARY if "preferred" in found else None


def _kind(found: dict[str, str], read: list[str]) -> Kind | None:
    if found.keys() & {"canonical", "decided", "preferred", "lasting"}:
        return "semantic"
    if any(_OPENS_DATED.match(s) or _HAPPENED.search(s) or _APPOINTED.search(s) for s in read):
        return "episodic"
    return None
