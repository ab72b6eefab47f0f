"""What the pages of a login say, in English and French."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """`{name}` and `{place}` are filled in, already fit for HTML."""

    language: str
    title: str
    asks: str
    may: str
    name_is_claim: str
    document_claim: str
    back_to: str
    this_computer: str
    program: str
    elsewhere: str
    token: str
    token_hint: str
    connect: str
    deny: str
    wrong_token: str
    no_token: str
    too_many: str
    expired: str
    failed: str
    foreign_form: str
    unknown_client: str
    bad_redirect: str
    incomplete: str
    bad_document: str
    start_again: str


ENGLISH = Words(
    language="en",
    title="Connect to Second Brain",
    asks="<strong>{name}</strong> asks to be connected to your Second Brain.",
    may="It will be able to read your memories, and to write, change and forget them.",
    name_is_claim="The name is what the application says of itself. Connect it only if you have "
    "just asked it to connect.",
    document_claim="It is named by a document at <strong>{place}</strong>.",
    back_to="You will be sent back to",
    this_computer="a program on this computer",
    program="the program that opens links of this kind",
    elsewhere="a site on the web: whoever runs it gets access",
    token="Bearer token",
    token_hint="<code>brain token show</code> prints it.",
    connect="Connect",
    deny="Deny",
    wrong_token="This is not the token. Nothing was connected.",
    no_token="Enter the token first.",
    too_many="Too many wrong tokens are being tried at the moment. Try again in {seconds} seconds.",
    expired="This page was open for too long, or its cookie was refused. Try again.",
    failed="This could not be connected",
    foreign_form="The form was not sent by this page.",
    unknown_client="This application is not known here: it was never registered, or long ago.",
    bad_redirect="The address that it wants you to be sent back to is not one that it has "
    "registered. You are not sent there.",
    incomplete="The request is not complete: {what}.",
    bad_document="This application cannot be looked up. {why}",
    start_again="Go back to the application and let it connect anew.",
)

FRENCH = Words(
    language="fr",
    title="Connexion à Second Brain",
    asks="<strong>{name}</strong> demande à être relié à votre Second Brain.",
    may="Il pourra lire vos souvenirs, en écrire, les modifier et les oublier.",
    name_is_claim="Ce nom est celui que l’application se donne. Ne la reliez que si vous venez de "
    "le lui demander.",
    document_claim="Elle est désignée par un document de <strong>{place}</strong>.",
    back_to="Vous serez renvoyé vers",
    this_computer="un programme de cet ordinateur",
    program="le programme qui ouvre ce type de liens",
    elsewhere="un site du web : qui le gère y aura accès",
    token="Jeton (Bearer token)",
    token_hint="<code>brain token show</code> l’affiche.",
    connect="Relier",
    deny="Refuser",
    wrong_token="Ce n’est pas le jeton. Rien n’a été relié.",
    no_token="Saisissez d’abord le jeton.",
    too_many="Trop de mauvais jetons sont essayés en ce moment. Réessayez dans {seconds} secondes.",
    expired="Cette page est restée ouverte trop longtemps, ou son cookie a été refusé. Réessayez.",
    failed="La connexion n’a pas pu se faire",
    foreign_form="Le formulaire n’a pas été envoyé par cette page.",
    unknown_client="Cette application n’est pas connue ici : elle ne s’est jamais enregistrée, ou "
    "il y a longtemps.",
    bad_redirect="L’adresse vers laquelle elle veut vous renvoyer n’est pas de celles qu’elle a "
    "enregistrées. Vous n’y êtes pas renvoyé.",
    incomplete="La demande est incomplète : {what}.",
    bad_document="Cette application ne peut pas être vérifiée. {why}",
    start_again="Retournez à l’application et relancez la connexion.",
)


def words_for(accept_language: str) -> Words:
    """Return the language that a browser likes best of those that there are."""
    best, liking = ENGLISH, 0.0
    for item in accept_language.lower().split(",")[:50]:
        tag, _, parameters = item.partition(";")
        language = tag.strip().split("-")[0]
        weight = _weight(parameters)
        for words in (ENGLISH, FRENCH):
            if language == words.language and weight > liking:
                best, liking = words, weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
