import type { Fault } from "@tessera/kit/fault";
import { fault } from "./faults.ts";

/** The options of every verb that calls a running platform as its operator. */
export const accessOptions = {
  url: {
    type: "string",
    default: process.env["BASE_URL"] || "http://localhost:8000",
    value: "URL",
    help: "the address of the platform (default BASE_URL, else http://localhost:8000)",
  },
  key: { type: "string", value: "KEY", help: "the operator key (default TESSERA_OPERATOR_KEY)" },
} as const;

/** Returns the operator key, from the option or from the environment. */
export function requireOperatorKey({ key }: { readonly key: string | undefined }): string {
  const given = key || process.env["TESSERA_OPERATOR_KEY"];
  if (given) return given;
  throw fault("no_operator_key", "set TESSERA_OPERATOR_KEY or pass --key; the platform prints its key when it starts");
}

/** The platform does not answer. */
export function noPlatform(url: string, cause: unknown): Fault {
  return fault("no_platform", `the platform at ${url} cannot be reached; start it, or pass --url`, { cause });
}
