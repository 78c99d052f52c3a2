import type { LanternIdentity } from "../host.js";

/** Who the page says the user is; whether it is true is the server's to judge. */
export function userIdOf(identity: LanternIdentity | null | undefined): string | null {
  if (!identity) return null;
  return "token" in identity ? subjectOf(identity.token) : identity.userId;
}

function subjectOf(token: string): string {
  try {
    const claims = token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(claims), (each) => each.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes)) as { sub?: unknown };
    if (typeof sub === "string") return sub;
  } catch {
    // The server will say what is wrong with it.
  }
  return token;
}
