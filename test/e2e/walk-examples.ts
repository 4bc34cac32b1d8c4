import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: string | number | boolean;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly security: readonly { readonly operator?: readonly string[]; readonly session?: readonly string[] }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }>
  >;
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The main status where it is not the first success that is documented. */
const mainStatus: Readonly<Record<string, number>> = { redeemListedPosition: 201, queryIdempotencyKey: 202 };

/** What the demo does not have: an event that is over, so that something can be erased, answers that are files, and alarms. */
const impossible: ReadonlySet<string> = new Set([
  "exportPersonalData",
  "downloadPersonalData",
  "shredPersonalData",
  "getShredStatus",
  "getErasureCertificate",
  "getErasureCertificateOfOrganizer",
  "getAnswerFile",
  "acknowledgeAlarm",
]);

/** What takes away what other examples need: it comes last, and the later the higher the number. */
const lateness = (method: string, { operationId }: Operation) =>
  ({ cancelOfflineSalesBatch: 1, revokeOwnDevice: 1, revokeDevice: 2, revokeSession: 2 })[operationId] ??
  Number(method === "delete");

const longestWaitMs = 30_000;

/** Answers that show what the demo has only later, fewer results, or what each demo has of its own. */
const ofOthers: ReadonlySet<string> = new Set([
  "countDoubles",
  "getDeviceInfo",
  "selectEventOfDevice",
  "getErasureCertificateKey",
  "getOfflineSalesBatch",
  "getSession",
  "listAlarms",
  "listApiKeys",
  "listCheckins",
  "listDevices",
  "listDoubles",
  "listErasedEvents",
  "listSessions",
  "listTicketLayouts",
  "listUpcomingErasures",
  "reportCheckins",
  "readLastHour",
  "readLive",
]);

/** Sends every documented example of a read to a demo in which nothing was done, and holds the answers against it; returns how many. */
export async function compareReads({ url, operatorKey }: { url: string; operatorKey: string }): Promise<number> {
  const { paths, filledIn } = await readExamples(url);
  let compared = 0;
  for (const [path, { get: operation }] of Object.entries(paths)) {
    const example = operation?.responses["200"]?.content?.["application/json"]?.example;
    if (operation === undefined || example === undefined || ofOthers.has(operation.operationId)) continue;
    const { operationId, parameters, security } = operation;
    const exampleOf = (name: string) => String(parameters.find((parameter) => parameter.name === name)?.example);
    const place = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(exampleOf(name)));
    const sent = parameters.filter((each) => each.in === "query" && each.example !== undefined);
    const query = new URLSearchParams(Object.fromEntries(sent.map(({ name }) => [name, exampleOf(name)])));
    const authorization = security[0]?.operator === undefined ? filledIn : `Token ${operatorKey}`;
    const answer = await fetch(`${url}${place}?${query.toString()}`, { headers: { authorization } });
    // It needs the answer of another example.
    if (answer.status === 404) continue;
    expect(comparable(await answer.json()), operationId).toEqual(comparable(example));
    compared += 1;
  }
  return compared;
}

/** The same without what depends on time and place. */
function comparable(answer: unknown): unknown {
  const text = JSON.stringify(answer)
    .replaceAll(/http:\/\/[^/"]+/g, "http://host")
    .replaceAll(/"20\d\d-[^"]+Z"/g, '"time"')
    // Stored some seconds after a request.
    .replaceAll(/"last_contact":(?:null|"time")/g, '"last_contact":"time"');
  return JSON.parse(text);
}

/** What the documentation shows, with the key that its page fills in. */
async function readExamples(url: string): Promise<{ paths: Paths; filledIn: string }> {
  const { paths } = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as { readonly paths: Paths };
  const start = await (await fetch(`${url}/docs/start.js`)).text();
  const [, filledIn = ""] = /"value": "(Token \w+)"/.exec(start) ?? [];
  return { paths, filledIn };
}

/**
 * Sends every documented example as a reader of the documentation would, with the credentials that it fills in; returns
 * how many. An address that another answer has held replaces the one of the example.
 */
export async function walkExamples({ url, operatorKey }: { url: string; operatorKey: string }): Promise<number> {
  const { paths, filledIn } = await readExamples(url);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const possible = operations.filter(({ operation }) => !impossible.has(operation.operationId));
  const inOrder = possible.toSorted(
    (one, other) => lateness(one.method, one.operation) - lateness(other.method, other.operation),
  );
  await letInUnpaid(url, filledIn);
  const links: string[] = [];
  let newKey = "";
  let double = "";
  let setupCode = "";
  let deviceToken = "";
  let signInLink = { id: "", link: "" };
  let cookie = "";

  for (const { path, method, operation } of inOrder) {
    const { operationId, parameters, security, requestBody } = operation;
    const example = (name: string) =>
      operationId === "revokeApiKey" && name === "key"
        ? newKey
        : path.includes("/doubles/{id}/") && name === "id"
          ? double
          : name === "session"
            ? signInLink.id
            : String(parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.example);
    const template = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const linked = /\{(?:job|file|position)\}/.test(path) ? links.find((link) => template.test(link)) : undefined;
    const address = linked ?? path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(example(name)));
    const query = new URLSearchParams();
    for (const { in: where, name, example: value } of parameters)
      if (where === "query" && value !== undefined) query.set(name, String(value));
    const headers = parameters.flatMap((each) =>
      each.in === "header" && each.required === true ? [[each.name, String(each.example)] as const] : [],
    );
    const [type, sent] =
      Object.entries(requestBody?.content ?? {}).find(([, content]) => content.example !== undefined) ?? [];
    const exchanged = {
      initializeDevice: { ...(sent?.example as object), token: setupCode },
      beginSession: { link: new URL(signInLink.link || url).hash.replace("#link=", "") },
    }[operationId];
    const said = exchanged ?? sent?.example;
    const body = said === undefined || typeof said === "string" ? said : JSON.stringify(said);
    const send = () =>
      fetch(`${url}${address}?${query.toString()}`, {
        method: method.toUpperCase(),
        headers: {
          ...(security[0]?.session !== undefined
            ? { cookie, "sec-fetch-site": "same-origin" }
            : {
                authorization: path.startsWith("/api/v1/device/")
                  ? `Device ${deviceToken}`
                  : security[0]?.operator === undefined
                    ? filledIn
                    : `Token ${operatorKey}`,
              }),
          ...(type === undefined ? {} : { "content-type": type }),
          ...Object.fromEntries(headers),
        },
        ...(body === undefined ? {} : { body }),
      });
    const answer = await untilReady(send);
    const text = await answer.text();
    const success = Object.keys(operation.responses).find((status) => Number(status) < 300);
    expect(answer.status, `${operationId}: ${method} ${address} ${text.slice(0, 300)}`).toBe(
      mainStatus[operationId] ?? Number(success),
    );
    links.push(...Array.from(text.matchAll(/"http[^"]+"/g), ([link]) => new URL(link.slice(1, -1)).pathname));
    if (operationId === "createDevice")
      setupCode = (JSON.parse(text) as { readonly initialization_token: string }).initialization_token;
    if (operationId === "initializeDevice" || operationId === "rollDeviceToken")
      deviceToken = (JSON.parse(text) as { readonly api_token: string }).api_token;
    if (operationId === "listDoubles")
      double = String((JSON.parse(text) as { readonly results: readonly { readonly id: number }[] }).results[0]?.id);
    if (operationId === "createSignInLink") signInLink = JSON.parse(text) as typeof signInLink;
    if (operationId === "beginSession") cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    if (operationId === "createApiKey") newKey = (JSON.parse(text) as { readonly id: string }).id;
  }
  return inOrder.length;
}

/** The demo begins without doubles: lets an unpaid ticket in, as a scanner without a network does. */
async function letInUnpaid(url: string, authorization: string): Promise<void> {
  const event = `${url}/api/v1/organizers/demo/events/conference`;
  const found = await fetch(`${event}/orders/?status=n`, { headers: { authorization } });
  const { results } = (await found.json()) as {
    readonly results: readonly { readonly positions: readonly { readonly id: number }[] }[];
  };
  const scan = { force: true, datetime: new Date(Date.now() - 600_000).toISOString() };
  const answer = await fetch(`${event}/checkinlists/1/positions/${results[0]?.positions[0]?.id}/redeem/`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify(scan),
  });
  expect(answer.status, await answer.text()).toBe(201);
}

/** Jobs have not ended at first. */
async function untilReady(send: () => Promise<Response>): Promise<Response> {
  const until = Date.now() + longestWaitMs;
  for (;;) {
    const answer = await send();
    if (answer.status !== 409 || Date.now() > until) return answer;
    await answer.arrayBuffer();
    await sleep(200);
  }
}
