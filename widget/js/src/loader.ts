import { mountWidget } from "./widget.js";
import { readOptions } from "./options.js";

// Only during its first run does a classic script know its own tag, and with it its key.
const script = document.currentScript;
const options = script instanceof HTMLScriptElement ? readOptions(script) : null;

if (options === null) {
  console.error("Lantern: the script tag needs a data-key attribute.");
} else if (window.Lantern === undefined) {
  mountWidget(options);
} else if (window.Lantern.key !== options.key) {
  console.warn("Lantern: one widget is on this page already; the second was not started.");
}
