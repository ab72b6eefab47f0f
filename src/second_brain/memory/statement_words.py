"""The words that reading a statement knows by name, in English and French."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    # Only what carries no fact: no pronouns, no prepositions of place or direction, no tenses.
    "a an the this that these those is are be am it its there here of and in at on as so then also"
    " please just really very quite note reminder remember fyi btw ps do does"
    " le la les un une des du de et est sont ce cet cette ces que qui il y au aux à en dans se ne"
    " donc alors aussi très vraiment bien rappel svp"
)
"""Their absence or presence is never new."""

_POLARITY_WORDS = _words(
    # denial
    "not off no never nor neither none nobody nothing nowhere without hardly barely"
    " pas non jamais ni aucun aucune rien nul nulle sans guère personne"
    # end or change of a state
    " longer anymore instead rather former formerly previously stopped stop stops"
    " cancelled canceled cancel postponed dropped abandoned rejected refused removed"
    " replaced deprecated obsolete disabled failed wrong false untrue except unless until"
    " plutôt lieu ancien ancienne auparavant arrêté arrêtée arrête annulé annulée annule reporté"
    " reportée abandonné abandonnée rejeté rejetée refusé refusée retiré supprimé remplacé obsolète"
    " désactivé échoué faux fausse sauf excepté"
    # doubt and limits
    " maybe perhaps possibly probably might may could should would if only almost about allegedly"
    " peut-être peut-etre possiblement probablement pourrait devrait serait si seulement uniquement"
    " presque environ éventuellement"
    # time of a state: what was may no longer be
    " was were had used will était étaient avait sera seront fut"
)
POLARITY = {
    **{word: word for word in _POLARITY_WORDS},
    **dict.fromkeys(("cannot", "pas", "non"), "not"),
    **{"was": "was", "were": "was", "était": "était", "étaient": "était"},
    **{"canceled": "cancelled", "stops": "stopped", "stop": "stopped", "anymore": "longer"},
    **{"peut-etre": "peut-être", "aucune": "aucun", "nulle": "nul", "fausse": "faux"},
}
"""Words that deny, end, doubt or limit a statement, by the word that they count as."""

DIRECTIONS = _words(
    "over than to from into before after versus vs by above below under onto toward towards"
    " instead rather because since for against"
    " que vers avant après contre plutôt lieu par sur sous pour chez depuis à car"
)
"""Words beside which the order of the other words says who does what to whom."""

_MONTHS = (
    "january february march april may june july august september october november december",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "jan feb mar apr may jun jul aug sep oct nov dec",
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
)
_RELATIVE_DAYS = (
    "today tomorrow yesterday tonight noon midnight weekend week-end"
    " hier demain aujourd'hui avant-hier après-demain midi minuit"
)
DATES = {
    **{name: f"month {n}" for names in _MONTHS for n, name in enumerate(names.split(), 1)},
    **{name: f"day {n}" for names in _DAYS for n, name in enumerate(names.split(), 1)},
    **{f"{name}s": f"days {n}" for names in _DAYS for n, name in enumerate(names.split(), 1)},
    **{word: word for word in _words(_RELATIVE_DAYS)},
}
DATES.pop("may")  # Far more often a verb, and then it counts as a doubt.

_EN_NUMBERS = "two three four five six seven eight nine ten eleven twelve"
_FR_NUMBERS = "deux trois quatre cinq six sept huit neuf dix onze douze"
NUMBER_WORDS = {
    **{word: str(n) for n, word in enumerate(_EN_NUMBERS.split(), 2)},
    **{word: str(n) for n, word in enumerate(_FR_NUMBERS.split(), 2)},
}
"""`one`, `un` and `une` are left out: they are articles and pronouns first."""

_UNIT_FORMS = {
    "kg": "kilo kilos kilogram kilograms kilogramme kilogrammes",
    "g": "gram grams gramme grammes",
    "mg": "",
    "t": "tonne tonnes ton tons",
    "l": "litre litres liter liters",
    "ml": "",
    "cl": "",
    "m": "metre metres meter meters mètre mètres",
    "cm": "",
    "mm": "",
    "km": "kilometre kilometres kilometer kilometers kilomètre kilomètres",
    "nm": "mile miles mille milles",
    "kn": "knot knots nœud nœuds",
    "h": "hour hours heure heures hr hrs",
    "min": "mins minute minutes",
    "s": "sec second seconds seconde secondes",
    "ms": "",
    "day": "days jour jours",
    "week": "weeks semaine semaines",
    "month": "months mois",
    "year": "years an ans année années",
    "time": "times fois",
    "€": "euro euros eur",
    "$": "dollar dollars usd",
    "£": "pound pounds gbp",
    "%": "percent pourcent",
    "°": "degree degrees degré degrés",
    "kb": "ko",
    "mb": "mo",
    "gb": "go",
    "tb": "to",
    "v": "volt volts",
    "w": "watt watts",
    "kw": "",
    "a": "amp amps ampère ampères",
    "ah": "",
    "ch": "hp",
    "k": "",
}
UNITS = {form: unit for unit, forms in _UNIT_FORMS.items() for form in (unit, *forms.split())}
for _ambiguous in ("to", "a", "go", "an"):
    UNITS.pop(_ambiguous, None)  # Words first: "from 3 to 4", "3 a day".

ELISIONS = _words("l d s j n c m t qu jusqu lorsqu puisqu")
"""What French shortens before a vowel."""

INFLECTIONS = frozenset(["", "s", "es", "x", "y", "ies", "nt", "ent", "ons", "ez"])
"""Endings that may differ between two forms of one word. Number and person only: `works` is not
`worked`, `build` not `building`, `port` not `porte`.
"""
