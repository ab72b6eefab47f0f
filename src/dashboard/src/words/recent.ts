// The words of the screen Recent.

import { translator } from "../i18n";

export const recent = translator({
  en: {
    total: "{n} memory | {n} memories",
    some: "Newest first",
    none: "No memory here yet.",
    noneHint: "Tag a note with the sync tag, or write one under Remember.",
    noneFiltered: "No memory matches these filters.",
    fresh: "{n} new memory | {n} new memories",
    failed: "This part of the list could not be read.",
  },
  fr: {
    total: "{n} souvenir | {n} souvenirs",
    some: "Les plus récents d'abord",
    none: "Aucun souvenir ici pour l'instant.",
    noneHint: "Donnez à une note l'étiquette de synchronisation, ou écrivez-en un sous Retenir.",
    noneFiltered: "Aucun souvenir ne répond à ces filtres.",
    fresh: "{n} nouveau souvenir | {n} nouveaux souvenirs",
    failed: "Cette partie de la liste n'a pas pu être lue.",
  },
});
