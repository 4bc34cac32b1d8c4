import type { Readiness } from "@tessera/kit/service/health";

/** Reads the answer of `/readyz`; undefined if another program sent it. */
export function readReadiness(text: string): Readiness | undefined {
  try {
    const page = JSON.parse(text) as Partial<Readiness> | null;
    if (typeof page?.ready !== "boolean") return undefined;
    return { stage: "serving", dependencies: {}, ...page, ready: page.ready };
  } catch {
    return undefined;
  }
}
