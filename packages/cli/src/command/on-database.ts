import { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";
import { endpointOf } from "./hide-secrets.ts";

/** Runs work on the database of a URL. If the database cannot be used, the fault names it; `mend` replaces the usual advice. */
export async function onDatabase<T>(url: string, work: () => Promise<T>, { mend }: { mend?: string } = {}): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOfDatabase(error)) throw error;
    const what = `the database at ${endpointOf(url)} cannot be used`;
    throw fault("database_unusable", mend !== undefined && lacksRight(error) ? `${what}; ${mend}` : what, {
      cause: error,
    });
  }
}

/** Whether the server cannot be reached, or refuses this user, this database or a right. */
function isOfDatabase(error: unknown): boolean {
  if (error instanceof Fault) return error.code === "database_unavailable";
  return /^(?:28...|3D000|42501|22023)$/.test(codeOf(error));
}

function lacksRight(error: unknown): boolean {
  return codeOf(error) === "42501";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
