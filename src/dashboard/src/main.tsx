import { render } from "preact";
import { App } from "./app";
import { keepListening } from "./live";
import { takeShared } from "./share";
import "./theme";

takeShared();
keepListening();
const root = document.getElementById("app")!;
// What index.html shows until here.
root.replaceChildren();
render(<App />, root);
