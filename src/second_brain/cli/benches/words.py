"""The vocabulary of made-up notes: ordinary words of English and French by their part of speech.

A sentence is a pattern whose capitals stand for parts of speech: N noun, A adjective, V verb,
P name of a person, C name of a thing of its own, D date, Q quantity.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """Words and patterns of one language. `question` holds a topic's two nouns and its name."""

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]
    months: tuple[str, ...]
    patterns: tuple[str, ...]
    headings: tuple[str, ...]
    question: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NAMES = _words(
    """
    Marta Jonas Élodie Karim Noémie Tomás Ingrid Baptiste Yuki Clémence Oskar Leïla
    Henrik Margaux Amina Pavel Sofia Étienne Dieter Camille Ravi Solène Piotr Aurélie
    """
)
_SYLLABLES = _words(
    """
    ba ber cor dan dor el fan gal har is jo kel lin mar nor or pel quin ros sel tor ul
    ven wil
    """
)

ENGLISH = Language(
    nouns=_words(
        """
        budget meeting garden roof invoice deadline kitchen printer contract recipe journey
        ticket server backup password calendar lecture chapter editor camera bicycle engine
        tenant landlord neighbour doctor appointment prescription festival concert violin
        rehearsal museum painting archive letter passport border ferry harbour island
        mountain trail tent compass seed tomato orchard harvest bakery flour yeast oven
        pension insurance bank mortgage loan salary interview candidate team release
        customer survey prototype sensor battery cable database query index migration
        deployment incident workshop slide audience translation dictionary grammar novel
        poem library exhibition school homework teacher birthday present wedding cousin
        grandmother puppy vet train platform luggage hotel booking
        """
    ),
    adjectives=_words(
        """
        late early cheap expensive quiet noisy new old broken useful simple careful open
        final yearly weekly northern wooden electric common strange short long reliable
        missing public private shared urgent seasonal
        """
    ),
    verbs=_words(
        """
        moved repaired ordered cancelled finished postponed compared measured painted
        translated planted called visited booked signed renewed copied tested rewrote
        explained promised refused bought sold borrowed returned cleaned packed recorded
        counted
        """
    ),
    months=_words(
        """
        January February March April May June July August September October November
        December
        """
    ),
    patterns=(
        "P V the A N before the N in D.",
        "The N for the C project costs Q euros, which is more than the A N.",
        "We V the N with P because the N was too A.",
        "If the N stays A, the N of the C project has to wait until D.",
        "Nobody knew why the A N and the N were V together.",
        "Ask P about the N; the last one took Q days.",
        "One A N is better than a A N when the N is A.",
        "On D P V Q of them, and the N was A again.",
        "What matters is the N, not the N, said P.",
        "Notes on the N: keep it A, never next to the N.",
    ),
    headings=("Decisions", "Background", "Open questions", "What happened", "Next", "Numbers"),
    question="what was decided about the {0} and the {1} of {2}",
)

FRENCH = Language(
    nouns=_words(
        """
        budget réunion jardin toiture facture échéance cuisine imprimante contrat recette
        voyage billet serveur sauvegarde calendrier cours chapitre appareil vélo moteur
        locataire voisin médecin ordonnance festival concert violon répétition musée tableau
        archive lettre passeport frontière traversée port île montagne sentier tente
        boussole graine tomate verger récolte boulangerie farine levure four retraite
        assurance banque prêt salaire entretien candidat équipe livraison cliente enquête
        maquette capteur batterie câble requête migration incident atelier diapositive
        traduction dictionnaire grammaire roman poème bibliothèque exposition école devoir
        professeure anniversaire cadeau mariage cousine chiot vétérinaire train quai bagage
        hôtel réservation
        """
    ),
    adjectives=_words(
        """
        tardif cher calme bruyant neuf ancien cassé utile simple prudent ouvert définitif
        annuel électrique étrange court long fiable manquant public privé partagé urgent
        """
    ),
    verbs=_words(
        """
        déplacé réparé commandé annulé terminé reporté comparé mesuré peint traduit planté
        appelé visité réservé signé renouvelé copié essayé expliqué promis refusé acheté
        vendu emprunté rendu nettoyé rangé noté
        """
    ),
    months=_words(
        """
        janvier février mars avril mai juin juillet août septembre octobre novembre décembre
        """
    ),
    patterns=(
        "P a V ce N A avant le N de D.",
        "Le N du projet C coûte Q euros, plus que le N A.",
        "Nous avons V le N avec P, car le N était trop A.",
        "Si le N reste A, le N du projet C attendra jusqu’à D.",
        "Personne ne savait pourquoi le N et le N étaient A ensemble.",
        "Demander à P pour le N ; le dernier a pris Q jours.",
        "Un N A vaut mieux qu’un N A quand le N est A.",
        "L’essentiel, c’est le N et non le N, disait P.",
        "En D, P en a V Q, et le N était de nouveau A.",
    ),
    headings=("Décisions", "Contexte", "Questions", "Ce qui s’est passé", "La suite", "Chiffres"),
    question="qu’avons-nous décidé pour {0} et {1} de {2}",
)


def coined(rng: random.Random) -> str:
    """A name that no dictionary has, such as a project's: `Belmarquin`."""
    return "".join(rng.choices(_SYLLABLES, k=3)).capitalize()


def sentence(language: Language, topic: list[str], name: str, rng: random.Random) -> str:
    """One sentence that keeps to the topic's nouns two times in three."""
    made: list[str] = []
    for word in rng.choice(language.patterns).split(" "):
        bare = word.rstrip(".,;:")
        made.append(_fill(bare, language, topic, name, rng) + word[len(bare) :])
    text = " ".join(made)
    return text[0].upper() + text[1:]


def _fill(mark: str, language: Language, topic: list[str], name: str, rng: random.Random) -> str:
    match mark:
        case "N":
            return rng.choice(topic if rng.random() < 0.67 else language.nouns)
        case "A":
            return rng.choice(language.adjectives)
        case "V":
            return rng.choice(language.verbs)
        case "P":
            return rng.choice(_NAMES)
        case "C":
            return name
        case "D":
            return f"{rng.choice(language.months)} {rng.randint(2019, 2026)}"
        case "Q":
            return str(rng.randint(2, 900))
        case _:
            return mark
