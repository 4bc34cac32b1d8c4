import { namesOfMessageFields, withFields } from "@tessera/testkit/message-fields";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sessions } from "../access/sessions.ts";
import type { ServedApp } from "../testing/serve-app.ts";
import { devices, keys, noSessions, serveApp } from "../testing/serve-app.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly example?: unknown }[];
  readonly security: readonly { readonly operator?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

interface Write extends Operation {
  readonly method: string;
  readonly path: string;
}

const names = namesOfMessageFields();

describe("operations that write", () => {
  let app: ServedApp;
  let writes: Write[];

  beforeAll(async () => {
    app = await serveApp({ findUploads: async () => [], sessions: () => recordSessions() });
    app.peers.when("credentials", "listCredentials", async () => ({ credentials: [], count: 0, page: 1 }));
    const { paths } = (await app.send("GET", "/api/v1/openapi.json")).json as {
      paths: Record<string, Record<string, Operation>>;
    };
    writes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, { requestBody }]) => method !== "get" && isJson(requestBody))
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
    );
  });
  afterAll(() => app.close());

  /** Sessions are our own: what is asked of their store counts as a call. */
  function recordSessions(): Sessions {
    return {
      ...noSessions,
      createLink(_token, link) {
        app.peers.calls.push({ method: "createLink", request: link });
        return Promise.reject(new Error("nothing is stored here"));
      },
      async redeem(token) {
        app.peers.calls.push({ method: "redeem", request: { token } });
        return { kind: "unknown" };
      },
    };
  }

  const exampleOf = ({ requestBody }: Write) => requestBody?.content["application/json"]?.example;

  /** The fields of a body, and of nested objects. */
  const knownBy = ({ operationId }: Write) =>
    new Set(propertiesIn(app.routes.find(({ name }) => name === operationId)?.body?.schema));

  /** The calls for a body, without fields that differ from call to call. */
  async function callsOf(write: Write, body: unknown) {
    const { calls } = app.peers;
    for (const list of [calls, app.seen]) list.splice(0);
    const at = (name: string) =>
      ({ organizer: "bigevents", event: "sampleconf" })[name] ??
      write.parameters.find((each) => each.in === "path" && each.name === name)?.example;
    const path = write.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(at(name))));
    const isOfDevice = write.path.startsWith("/api/v1/device/");
    const key = isOfDevice ? devices.full : write.security[0]?.operator === undefined ? keys.all : keys.operator;
    await app.send(write.method, path, { body, key });
    return JSON.parse(
      JSON.stringify(calls).replaceAll(/"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"/g, '"uuid"'),
    ) as unknown[];
  }

  it("[S1.9, S3.4] call the same for the same place, whatever fields of messages their bodies name besides", async () => {
    for (const write of writes) {
      const example = exampleOf(write);
      const calls = await callsOf(write, example);
      expect(calls.length, `${write.operationId} calls nothing`).toBeGreaterThan(0);
      if (write.operationId === "createSignInLink")
        expect(calls).toContainEqual(expect.objectContaining({ method: "createLink" }));
      for (const value of ["somebody", "a\u0000b", 4711, { organizer: "somebody", event: "theirs" }]) {
        const hostile = withFields(example, { names, value, known: knownBy(write) });
        expect(await callsOf(write, hostile), `${write.operationId} with ${JSON.stringify(value)}`).toEqual(calls);
      }
      expectPlace(calls, write);
    }
    expect(writes.length).toBeGreaterThan(15);
  });
});

function isJson(body: Operation["requestBody"]): boolean {
  return body?.content["application/json"]?.example !== undefined;
}

function propertiesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(propertiesIn)];
}

/** Expects that every call that names an organizer names that of the path, at any depth. */
function expectPlace(calls: unknown, { operationId, path }: Write): void {
  JSON.stringify(calls, (name, value: unknown) => {
    if (name === "organizer") expect(value, operationId).toBe("bigevents");
    if (name === "event" && path.includes("{event}")) expect(value, operationId).toBe("sampleconf");
    return value;
  });
}
