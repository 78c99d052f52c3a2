import { mountWidget } from "./widget.js";
import { readOptions } from "./options.js";

// Only during its first run does a classic script know its own tag, and with it its key.
const script = document.currentScript;
const options = script instanceof HTMLScriptElement ? readOptions(script) : null;

if (options === null) {
  console.error("Lantern: the script tag needs a data-key.");
} else if (window.Lantern === undefined) {
  const address = `${options.server}/v1/widget/config?key=${options.key}`;
  // A refusal has none of the names that are looked for: the widget is itself then.
  mountWidget(
    options,
    fetch(address).then((response) => response.json()),
  );
} else if (window.Lantern.key !== options.key) {
  console.warn("Lantern: a second widget on this page was not started.");
}
