// @vitest-environment node
import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LanternIdentity, PageFacts, WidgetOptions } from "../src/host.js";
import { userIdOf } from "../src/panel/identity.js";
import { solve } from "../src/panel/proof.js";
import { Visitor } from "../src/panel/visitor.js";
import { FakeServer } from "./fake-server.mjs";

let server: FakeServer;
let options: WidgetOptions;
let facts: PageFacts & { identity: LanternIdentity | null };

beforeEach(async () => {
  server = new FakeServer();
  options = {
    key: "pk_demo",
    server: await server.listen(),
    position: "right",
    theme: "auto",
    locale: "en",
    zIndex: "",
    accent: "",
    radius: "",
  };
  facts = { identity: null, context: {}, tools: new Map() };
});

afterEach(() => server.close());

const encode = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(sub: string, secret = "right"): LanternIdentity {
  const body = `${encode({ alg: "HS256" })}.${encode({ sub, name: "Ünal", exp: 1 })}`;
  return { token: `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}` };
}

test("a token says who the user is", () => {
  expect(userIdOf(tokenOf("kätheÿ?>"))).toBe("kätheÿ?>");
  expect(userIdOf({ userId: "bob", hash: "" })).toBe("bob");
  expect(userIdOf(null)).toBeNull();
  for (const token of ["", "a.b.c", "a.bnVsbA.c", `a.${encode({ sub: 7 })}.c`]) {
    expect(userIdOf({ token })).toBe(token);
  }
});

test("a token goes to the server as it is", async () => {
  facts.identity = tokenOf("bob");
  await new Visitor(options, facts).arrive();
  expect(server.bootstraps).toEqual([{ key: "pk_demo", identity: facts.identity }]);
});

test("a newer token of the same user changes nothing", async () => {
  facts.identity = tokenOf("bob");
  const visitor = new Visitor(options, facts);
  await visitor.arrive();
  const sessionId = await visitor.ensure();
  facts.identity = tokenOf("bob", "newer");
  expect(visitor.identityChanged()).toBe(false);
  expect(visitor.current()).toBe(sessionId);
});

test("another user's token leaves nothing of the first", async () => {
  facts.identity = tokenOf("bob");
  const visitor = new Visitor(options, facts);
  await visitor.arrive();
  await visitor.ensure();
  facts.identity = tokenOf("eve");
  expect(visitor.identityChanged()).toBe(true);
  await visitor.arrive();
  expect(visitor.current()).toBeNull();
  expect(server.bootstraps.at(-1)).toEqual({ key: "pk_demo", identity: facts.identity });
});

// The page's own token lasts minutes, the page hours.
test("a user whose token has ended goes on with the visitor's", async () => {
  facts.identity = tokenOf("bob");
  const visitor = new Visitor(options, facts);
  await visitor.arrive();
  const sessionId = await visitor.ensure();
  server.refusesIdentity = true;
  await visitor.arrive();
  expect(visitor.current()).toBe(sessionId);
  expect(server.bootstraps.at(-1)!.identity).toBeUndefined();
  expect(visitor.identityChanged()).toBe(false);
});

test("a wrong token is no way to be another user", async () => {
  facts.identity = tokenOf("bob");
  const visitor = new Visitor(options, facts);
  await visitor.arrive();
  server.refusesIdentity = true;
  facts.identity = tokenOf("eve", "wrong");
  visitor.identityChanged();
  await expect(visitor.arrive()).rejects.toMatchObject({ status: 401 });
});

test("a challenge is solved, and the call made again", async () => {
  server.difficulty = 9;
  await new Visitor(options, facts).arrive();
  expect(server.bootstraps).toHaveLength(2);
  expect(server.bootstraps[1]!.proof!.challenge).toBe(server.challenges[0]);
});

test("a challenge that cannot be met is given up", async () => {
  server.difficulty = 4;
  server.isNeverConvinced = true;
  await expect(new Visitor(options, facts).arrive()).rejects.toMatchObject({
    code: "proof_required",
  });
  expect(server.bootstraps).toHaveLength(4);
});

test("the solution's hash begins with the zero bits", async () => {
  const { solution } = await solve({ challenge: "x:y-z", difficulty: 12 });
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update(`x:y-z.${solution}`).digest();
  expect(Math.clz32(digest.readUInt32BE(0))).toBeGreaterThanOrEqual(12);
});
