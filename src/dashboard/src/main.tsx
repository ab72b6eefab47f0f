import { render } from "preact";
import { App } from "./app";
import { keepListening } from "./live";
import "./theme";

keepListening();
render(<App />, document.getElementById("app")!);
