import { render } from "preact";
import { App } from "./app";
import { keepListening } from "./live";
import "./theme";

keepListening();
const root = document.getElementById("app")!;
// What index.html shows until here.
root.replaceChildren();
render(<App />, root);
