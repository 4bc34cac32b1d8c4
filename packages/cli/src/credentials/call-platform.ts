import type { Fault } from "@tessera/kit/fault";
import { type Access, noPlatform, noTessera, refuseRedirect } from "../command/operator-access.ts";
import { parseJson } from "../command/parse-json.ts";
import { printable } from "../command/printable.ts";
import { fault } from "../faults.ts";

interface Call {
  readonly method: "GET" | "POST";
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly body?: object;
}

/** Longer than any wait within the platform. */
const patienceMs = 30_000;

/** Calls a route as the operator. A refusal becomes a fault with one sentence. */
export async function callPlatform<Answer>({ url, key }: Access, { method, path, body }: Call): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url.replace(/\/+$/, "")}/api/v1/${path}`, {
      method,
      redirect: "manual",
      headers: { authorization: `Token ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await response.text();
  } catch (error) {
    throw noPlatform(url, error);
  }
  refuseRedirect(url, response);
  const answer = parseJson(text);
  if (!response.ok) throw refusal(response.status, answer);
  if (typeof answer !== "object" || answer === null) throw noTessera(url);
  return answer as Answer;
}

function refusal(status: number, answer: unknown): Fault {
  const reason = reasonIn(answer);
  return fault(
    "platform_refused",
    `the platform refused this with status ${status}${reason === "" ? "" : `: ${printable(reason)}`}`,
  );
}

/** One sentence made of `detail`, or of messages by field. */
function reasonIn(answer: unknown): string {
  const parts = Object.entries(answer ?? {}).map(([field, messages]) => {
    const text = [messages].flat().map((message) => String(message).replace(/\.$/, ""));
    return field === "detail" ? text.join(", ") : `${field}: ${text.join(", ")}`;
  });
  return parts.join("; ");
}

interface Page<Item> {
  readonly next: string | null;
  readonly results: readonly Item[];
}

export async function readAll<Item>(access: Access, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1; ; page += 1) {
    const read = { method: "GET", path: `${path}?page=${page}` } as const;
    const { results, next } = await callPlatform<Partial<Page<Item>>>(access, read);
    if (results === undefined || next === undefined) throw noTessera(access.url);
    all.push(...results);
    if (next === null || results.length === 0) return all;
  }
}
