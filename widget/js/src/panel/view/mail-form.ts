import { el } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { MAIL } from "../../icons.js";
import { textButton, withIcon } from "../button.js";

export interface MailFormOptions {
  t: Translate;
  onEmail: (address: string) => Promise<string>;
}

/** A button that becomes a field for an address. */
export function createMailForm({ t, onEmail }: MailFormOptions) {
  const open = textButton("row", t("emailChat"), () => {
    open.hidden = true;
    form.hidden = false;
    field.focus();
  });
  const field = el("input", { type: "email", required: true, maxlength: "254" });
  field.autocomplete = "email";
  field.placeholder = t("emailAddress");
  field.setAttribute("aria-label", t("emailAddress"));
  const submit = el("button", { type: "submit", class: "notice-action" }, t("submit"));
  const told = el("p", { class: "told", role: "status" });
  const form = el("form", { class: "mail", hidden: true }, field, submit);
  const send = async (): Promise<void> => {
    submit.disabled = true;
    told.textContent = await onEmail(field.value.trim());
    submit.disabled = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  return {
    element: el("div", {}, withIcon(open, MAIL), form, told),
    reset(): void {
      open.hidden = false;
      form.hidden = true;
      told.textContent = "";
    },
  };
}
