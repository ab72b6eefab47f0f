// The words around what a memory says.

import { translator } from "../i18n";

export const content = translator({
  en: {
    showRest: "Show the rest as plain text ({n} characters)",
    table: "Table",
    noImage: "Image not found: {name}",
  },
  fr: {
    showRest: "Afficher le reste en texte brut ({n} caractères)",
    table: "Tableau",
    noImage: "Image introuvable : {name}",
  },
});
