import type { Fault } from "@tessera/kit/fault";
import { fault } from "./faults.ts";
import { readSecret, warnInClear } from "./read-secret.ts";

/** The options of every verb that calls a running platform as its operator. */
export const accessOptions = {
  url: {
    type: "string",
    default: process.env["BASE_URL"] || "http://localhost:8000",
    value: "URL",
    help: "the address of the platform (default BASE_URL, else http://localhost:8000)",
  },
  key: {
    type: "string",
    value: "KEY",
    help: "the operator key (default TESSERA_OPERATOR_KEY, which the list of processes does not show)",
  },
  "key-file": { type: "string", value: "FILE", help: "a file with the operator key" },
} as const;

/** Returns the operator key, from an option or from the environment, for a platform. */
export function requireOperatorKey(values: {
  readonly key: string | undefined;
  readonly "key-file": string | undefined;
  readonly url: string;
}): string {
  const { key: given, "key-file": file, url } = values;
  const key = readSecret({ option: "key", given, file, variable: "TESSERA_OPERATOR_KEY" });
  if (key === undefined) {
    throw fault(
      "no_operator_key",
      "set TESSERA_OPERATOR_KEY or pass --key-file; the platform prints its key when it starts, if it made it",
    );
  }
  warnInClear(url, "the operator key");
  return key;
}

/** The platform does not answer. */
export function noPlatform(url: string, cause: unknown): Fault {
  return fault("no_platform", `the platform at ${url} cannot be reached; start it, or pass --url`, { cause });
}
