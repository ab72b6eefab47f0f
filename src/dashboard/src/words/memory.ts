// The words of the panel that shows one memory.

import { translator } from "../i18n";

export const memory = translator({
  en: {
    gone: "This memory is not there any more.",
    changed: "Last changed",
    importance: "Importance {n} of 5",
    links: "Links",
    noLinks: "Not linked to another memory yet.",
    history: "History",
  },
  fr: {
    gone: "Ce souvenir n'existe plus.",
    changed: "Dernière modification",
    importance: "Importance {n} sur 5",
    links: "Liens",
    noLinks: "Lié à aucun autre souvenir pour l'instant.",
    history: "Historique",
  },
});
