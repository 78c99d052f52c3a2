import composer from "./composer.css?inline";
import files from "./files.css?inline";
import markdown from "./markdown.css?inline";
import media from "./media.css?inline";
import panel from "./panel.css?inline";
import theme from "./theme.css?inline";
import history from "./history.css?inline";
import reply from "./reply.css?inline";
import thread from "./thread.css?inline";
import welcome from "./welcome.css?inline";

/** The panel's rules on touch screens and phones come last, over those of its parts. */
export const PANEL_CSS =
  theme + thread + files + reply + markdown + composer + history + welcome + panel + media;
