import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The folder of these sources. */
export const sources = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** Runs commands of a page in a shell that stops at the first failure; resolves to everything that they print. */
export function runCommands(
  script: string,
  { cwd, environment = {} }: { cwd: string; environment?: Readonly<Record<string, string>> },
): Promise<string> {
  const own = `set -euo pipefail
exec 2>&1
curl() { command curl --silent --show-error --max-time 90 "$@"; }
`;
  // What the runner of the tests has set is not for the commands.
  const { PATH = "", HOME = "" } = process.env;
  return new Promise((resolve, reject) => {
    execFile(
      "bash",
      ["-c", `${own}${script}`],
      { cwd, env: { PATH, HOME, ...environment }, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout) => (error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stdout}`))),
    );
  });
}
