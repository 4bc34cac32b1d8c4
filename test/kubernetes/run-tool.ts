import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a program of the system to its end, and returns what it printed. A failure has its errors as message. */
export async function runTool(
  program: string,
  args: readonly string[],
  { minutes = 2, env = {} }: { readonly minutes?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      timeout: minutes * 60_000,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, ...env },
    });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const said = `${stdout.slice(-2000)}${stderr.slice(-4000)}`;
    throw new Error(`${[program, ...args].join(" ").slice(0, 300)} fails: ${said}`, { cause: error });
  }
}
