import { longestTurn } from "@tessera/testkit/longest-turn";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Body, ListBody, Route } from "../http/route.ts";
import { inEvent, keys, type ServedApp, serveApp } from "../testing/serve-app.ts";

/** The longest turn of the event loop. */
const mostMs = 50;

const repeated = (times: number, part: (index: number) => string) =>
  Array.from({ length: Math.max(0, Math.floor(times)) }, (_, index) => part(index)).join(",");

/** The most expensive objects: each has at most this many values and bytes. */
const shapes: readonly (readonly [
  name: string,
  make: (most: { readonly bytes: number; readonly values: number }, names: readonly string[]) => string,
])[] = [
  ["many fields", ({ bytes, values }) => `{${repeated(Math.min(values - 2, bytes / 12), (at) => `"k${at}":1`)}}`],
  [
    "many levels",
    ({ bytes, values }) =>
      `{"a":[${repeated(Math.min((values - 3) / 59, bytes / 121), () => "[".repeat(58) + "]".repeat(58))}]}`,
  ],
  [
    "empty objects",
    ({ bytes, values }) => `{"a":[${repeated(Math.min((values - 3) / 2, bytes / 3 - 9), () => "{}")}]}`,
  ],
  [
    "objects of one field each",
    ({ bytes, values }) => `{"a":[${repeated(Math.min((values - 3) / 2, bytes / 14 - 9), (at) => `{"k${at}":1}`)}]}`,
  ],
  ...(['\\"'] as const).map(
    (part) =>
      [
        `long texts of ${part}`,
        ({ bytes }: { readonly bytes: number }, names: readonly string[]) =>
          `{${names.map((name) => `"${name}":"${part.repeat(Math.floor((bytes / names.length - name.length - 8) / part.length))}"`).join()}}`,
      ] as const,
  ),
  ...(["[1,{}]"] as const).map(
    (wrong) =>
      [
        `${wrong} everywhere`,
        ({ bytes, values }: { readonly bytes: number; readonly values: number }, names: readonly string[]) => {
          const each = Math.min((values - 2) / names.length / 4 - 1, (bytes / names.length - 40) / (wrong.length + 1));
          return `{${names.map((name) => `"${name}":[${repeated(each, () => wrong)}]`).join()}}`;
        },
      ] as const,
  ),
  [
    "wrong types",
    ({ values }, names) =>
      `{${names
        .slice(0, values - 2)
        .map((name) => `"${name}":[{}]`)
        .join()}}`,
  ],
];

describe("the largest bodies", () => {
  let app: ServedApp;
  const operations: (Route & { readonly body: Body<unknown> })[] = [];

  beforeAll(async () => {
    app = await serveApp();
    const { paths } = (await app.send("GET", "/api/v1/openapi.json")).json as { paths: Record<string, object> };
    const documented = new Set(
      Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }: { operationId: string }) => operationId),
      ),
    );
    const known = new Set<string>();
    for (const { body, ...route } of app.routes) {
      if (body === undefined || !documented.has(route.name)) continue;
      // PUT and PATCH have the limits of POST.
      const takes = JSON.stringify([body.maxBytes, body.schema["properties"] ?? body.schema["items"]]);
      if (!known.has(takes)) operations.push({ ...route, body });
      known.add(takes);
    }
  });
  afterAll(() => app.close());

  /** A body of this shape at the limit of the operation. */
  function fill(body: Body<unknown>, make: (typeof shapes)[number][1]): string {
    const { maxBytes } = body;
    if (body.kind === "object")
      return make({ bytes: maxBytes - 2, values: body.mostValues }, Object.keys(body.schema.properties));
    const { mostInAll, mostElements } = body.kind === "list" ? body : body.list;
    const { items } =
      body.kind === "list" ? body.schema : (body.schema.properties[body.field] as ListBody<unknown>["schema"]);
    // A batch has a few bytes around its list.
    const bytes = (maxBytes - 20) / mostElements - 2;
    const one = make({ bytes, values: mostInAll / mostElements }, Object.keys(items.properties));
    const list = `[${repeated(Math.min(mostElements, maxBytes / (one.length + 1)), () => one)}]`;
    return body.kind === "list" ? list : `{"${body.field}":${list}}`;
  }

  it.each(shapes)(
    "[S4.25] of %s stop no process for long, whatever operation they are sent to",
    async (_name, make) => {
      const sent = operations.map(({ name, method, path, body, access }) => {
        const text = fill(body, make);
        expect(Buffer.byteLength(text), name).toBeLessThanOrEqual(body.maxBytes);
        const at = path
          .replace("/api/v1/organizers/{organizer}/events/{event}", inEvent)
          .replace("{organizer}", "bigevents")
          .replaceAll(/\{\w+\+?\}/g, "7");
        const headers = { "content-type": "application/json" };
        const key = access.kind === "operator" ? keys.operator : keys.all;
        const statuses = new Set<number>();
        const send = async () => statuses.add((await app.send(method, at, { body: text, headers, key })).status);
        return { name, statuses, send };
      });
      const sendAll = async () => {
        for (const { send } of sent) await send();
      };
      const slow: string[] = [];
      // Each one alone, with many tries, only where they were too slow together: most of the time goes into measuring.
      if ((await longestTurn(sendAll, { tries: 2, enoughMs: mostMs })) > mostMs)
        for (const { name, statuses, send } of sent) {
          const tookMs = await longestTurn(send, { enoughMs: mostMs });
          if (tookMs > mostMs) slow.push(`${name} ${tookMs.toFixed(0)} ms ${[...statuses].join()}`);
        }
      for (const { name, statuses } of sent) expect(statuses, name).not.toContain(413);
      expect(operations.length).toBeGreaterThan(10);
      expect(slow).toEqual([]);
    },
  );
});
