// The words around what a memory says.

import { translator } from "../i18n";

export const content = translator({
  en: {
    showAll: "Show the whole text ({n} characters)",
    table: "Table",
    noImage: "Image not found: {name}",
  },
  fr: {
    showAll: "Afficher tout le texte ({n} caractères)",
    table: "Tableau",
    noImage: "Image introuvable : {name}",
  },
});
