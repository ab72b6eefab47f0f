// The words of capturing from elsewhere.

import { translator } from "../i18n";

export const anywhere = translator({
  en: {
    title: "Capture from anywhere",
    drag: "Drag a button to your browser's bookmarks. Pressed on a page, it remembers what is marked there, with the page's title and address.",
    inWindow: "Remember in a window",
    inWindowHint: "Opens this page in a small window with the text written; you press Save. Works on every page.",
    atOnce: "Remember at once",
    atOnceHint: "Stores without asking. It holds your token, which a hostile page on which you press it could read: press it on pages that you trust.",
    notHere: "Drag this button to your bookmarks, then press it on another page.",
    copy: "Copy the address of “{name}”",
    copied: "Copied. Make a bookmark and paste it as its address.",
    copyFailed: "The browser does not let this page copy.",
    stored: "Remembered.",
    known: "Known already.",
    extension: "The browser extension does more: the page's text, related memories, a queue while the daemon is away. “brain extension DIR” writes it out.",
    phone: "On a phone, open this address in the browser and choose “Add to home screen”: then Second Brain is in the share sheet (Android, over HTTPS). For an iPhone the README has a shortcut.",
  },
  fr: {
    title: "Capturer de partout",
    drag: "Glissez un bouton dans les favoris de votre navigateur. Cliqué sur une page, il retient ce qui y est sélectionné, avec le titre et l’adresse de la page.",
    inWindow: "Retenir dans une fenêtre",
    inWindowHint: "Ouvre cette page dans une petite fenêtre avec le texte déjà écrit ; vous enregistrez. Marche sur toute page.",
    atOnce: "Retenir aussitôt",
    atOnceHint: "Enregistre sans demander. Il contient votre jeton, qu’une page malveillante où vous le cliquez pourrait lire : cliquez-le sur des pages de confiance.",
    notHere: "Glissez ce bouton dans vos favoris, puis cliquez-le sur une autre page.",
    copy: "Copier l’adresse de « {name} »",
    copied: "Copié. Créez un favori et collez-la comme adresse.",
    copyFailed: "Le navigateur ne laisse pas cette page copier.",
    stored: "Retenu.",
    known: "Déjà connu.",
    extension: "L’extension du navigateur fait plus : le texte de la page, les souvenirs proches, une file d’attente quand le démon est absent. « brain extension DIR » l’écrit.",
    phone: "Sur un téléphone, ouvrez cette adresse dans le navigateur et choisissez « Ajouter à l’écran d’accueil » : Second Brain est alors dans la feuille de partage (Android, en HTTPS). Pour un iPhone, le README a un raccourci.",
  },
});
