declare module "*.css?inline" {
  const css: string;
  export default css;
}

/** File name of the built panel, set by the build. */
declare const PANEL_FILE: string;

/** File name of what watches for the moment to come forward, set by the build. */
declare const TRIGGERS_FILE: string;

/** The built file of each language but English, set by the build. */
declare const LANGUAGE_FILES: Readonly<Record<string, string>>;
