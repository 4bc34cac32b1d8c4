import { resolve } from "node:path";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";
import { readOperatorKey } from "../local/local-data.ts";
import { findLocalPlatform, type LocalPlatform } from "../local/local-platform.ts";
import { isOwnHost } from "../serve/secure-calls.ts";
import type { OptionValues } from "./options.ts";
import { printable } from "./printable.ts";
import { readSecret, warnInClear } from "./read-secret.ts";

/** The options of every verb that calls a running platform as its operator. */
export const accessOptions = {
  url: {
    type: "string",
    value: "URL",
    help: "the address of the platform (default: that of --data, else BASE_URL, else that of .tessera, else http://localhost:8000)",
  },
  key: {
    type: "string",
    value: "KEY",
    help: "the operator key (default TESSERA_OPERATOR_KEY, which the list of processes does not show, else that of --data)",
  },
  "key-file": { type: "string", value: "FILE", help: "a file with the operator key" },
  data: {
    type: "string",
    value: "DIR",
    help: "the data folder of a running `tessera serve all`, which has its address and its key (default .tessera)",
  },
} as const;

const usualData = ".tessera";

/** How to call a running platform. */
export interface Access {
  readonly url: string;
  readonly key: string;
}

/** Finds out how to call the platform as its operator: from options, from the environment, or from the data folder. */
export async function findAccess(values: OptionValues<typeof accessOptions>): Promise<Access> {
  const directory = resolve(values.data ?? usualData);
  const { key: givenKey, "key-file": file } = values;
  const isFolderNamed = values.data !== undefined;
  const configuredUrl = process.env["BASE_URL"] || undefined;
  const secret = readSecret({ option: "key", given: givenKey, file, variable: "TESSERA_OPERATOR_KEY" });
  // With both given, the folder need not be readable.
  const isNamed = (values.url ?? (isFolderNamed ? undefined : configuredUrl)) !== undefined && secret !== undefined;
  const local = isNamed ? undefined : await findLocalPlatform(directory);
  // The address of clients may lead to another platform, or here only when DNS and a proxy are there.
  if (isFolderNamed && values.url === undefined && local === undefined)
    throw fault("no_platform", `no platform is ready on the data folder ${directory}; start it, or pass --url`);
  const givenUrl = values.url ?? (isFolderNamed ? local?.url : configuredUrl);
  const url = givenUrl ?? local?.url ?? "http://localhost:8000";
  const key =
    secret ?? (local?.isKeyInFolder === true && isAddressOf(local, url) ? await readOperatorKey(directory) : undefined);
  if (key === undefined) {
    throw fault(
      "no_operator_key",
      givenUrl === undefined && local === undefined
        ? `no platform is ready on the data folder ${directory}; start it, name another folder with --data, or pass --url and --key-file`
        : "set TESSERA_OPERATOR_KEY or pass --key-file; --data DIR finds the key of a platform that runs on this machine and made it",
    );
  }
  requireAddress(url);
  if (!/^[\x21-\x7e]+$/.test(key)) throw fault("bad_token", "the operator key is one word of letters and digits");
  warnInClear(url, "the operator key");
  return { url, key };
}

/** Refuses a URL that is no server address, without repeating a password in it. */
function requireAddress(text: string): void {
  const { protocol, username = "", password = "" } = URL.parse(text) ?? {};
  if (username !== "" || password !== "")
    throw fault(
      "bad_url",
      "the address of the platform has a user or a password, which it does not need; leave both out",
    );
  if (protocol === "http:" || protocol === "https:") return;
  const shown = text.includes("@") ? "the address of the platform" : printable(text);
  throw fault("bad_url", `${shown} is no URL; pass --url as http://localhost:8000`);
}

/** The key must not be sent to another platform. */
function isAddressOf(local: LocalPlatform, text: string): boolean {
  const [url, own] = [URL.parse(text), URL.parse(local.url)];
  if (url === null || own === null) return false;
  return url.origin === own.origin || (isOwnHost(url.hostname) && isOwnHost(own.hostname) && url.port === own.port);
}

/** Codes of connections that were lost before the answer. */
const broken: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The fault of a platform that does not answer. */
export function noPlatform(url: string, cause: unknown): Fault {
  const { name, cause: reason } = cause as { name?: string; cause?: { code?: unknown } };
  if (name === "TimeoutError")
    return fault("no_platform", `the platform at ${url} does not answer; look at its log, or ask \`tessera doctor\``);
  if (broken.has(reason?.code))
    return fault(
      "no_platform",
      `the platform at ${url} broke the connection, and may have stored what was sent; see whether it runs, and try again`,
    );
  return fault("no_platform", `the platform at ${url} cannot be reached; start it, or pass --url`, { cause });
}

/** Refuses a redirect: the key goes to the given address only. */
export function refuseRedirect(url: string, { status, headers }: Response): void {
  if (status < 300 || status > 399) return;
  const to = URL.parse(headers.get("location") ?? "", url)?.origin ?? "its other address";
  throw fault("bad_url", `the server at ${url} leads elsewhere; if that is the platform, pass --url ${to}`);
}

/** The fault of another server at this address. */
export function noTessera(url: string): Fault {
  return fault("no_platform", `the server at ${url} is no Tessera; pass the right --url`);
}
