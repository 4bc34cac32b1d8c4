import { readFileSync } from "node:fs";
import { fault } from "../faults.ts";
import { isOwnHost } from "../serve/secure-calls.ts";

/** A secret of a command line: the option that holds it, the option that names a file with it, and the variable. */
export interface SecretSource {
  /** The option without dashes; the option with the file ends with `-file`. */
  readonly option: string;
  readonly given: string | undefined;
  readonly file: string | undefined;
  readonly variable: string;
}

/** Reads a secret; undefined: none was given. */
export function readSecret({ option, given, file, variable }: SecretSource): string | undefined {
  if (given !== undefined && file !== undefined)
    throw fault("secret_given_twice", `either --${option} or --${option}-file, not both`);
  if (file === undefined) return given || process.env[variable] || undefined;
  const secret = readText(file, option).trim();
  if (secret === "") throw fault("secret_file_unusable", `${file}, which --${option}-file names, is empty`);
  return secret;
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw fault("secret_file_unusable", `${file}, which --${option}-file names, cannot be read`, { cause: error });
  }
}

/** Warns where a secret leaves this machine without TLS: everyone on the way could read it. */
export function warnInClear(url: string, secret: string): void {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol !== "http:" || hostname === undefined || isOwnHost(hostname)) return;
  process.stderr.write(
    `warning: ${secret} goes to ${hostname} without encryption; use https:// beyond a network of your own\n`,
  );
}
