/** So much of a kind was erased from a holding of a service, or is left there. */
export interface Part {
  readonly kind: string;
  readonly holding: string;
  readonly count: number;
}

/** What may hold personal data and no erasure takes, and why. */
export interface Kept {
  readonly holding: string;
  readonly reason: string;
}

/** What a service has erased, and what it keeps. */
export interface ServiceParts {
  readonly service: string;
  readonly parts: readonly Part[];
  readonly kept: readonly Kept[];
}

/** How far a service is with its part of a case. */
export interface ServiceProgress extends ServiceParts {
  /** `silent`: it did not answer. `unasked`: the request has not arrived. */
  readonly state: "silent" | "unasked" | "erasing" | "done";
  /** What it still holds. */
  readonly left: readonly Part[];
}

/** How far a case is. */
export type CaseProgress =
  | { readonly state: "erased"; readonly parts: readonly ServiceParts[] }
  /** Services that have not erased their parts, and why. */
  | {
      readonly state: "erasing";
      readonly missing: readonly string[];
      /** Whether waiting alone does not help: a request was lost, or something is left that was stored meanwhile. */
      readonly isStuck: boolean;
    };

/** Decides how far a case is: it is closed when every service is done and nothing is left anywhere. */
export function judgeProgress(services: readonly ServiceProgress[]): CaseProgress {
  const missing = services.flatMap((service) => describeMissing(service) ?? []);
  if (missing.length > 0) return { state: "erasing", missing, isStuck: isStuck(services) };
  return { state: "erased", parts: services.map(({ service, parts, kept }) => ({ service, parts, kept })) };
}

/** It owns events: a case that it does not know went with its event. */
const owner = "boxoffice";

function isStuck(services: readonly ServiceProgress[]): boolean {
  if (services.some(({ service, state }) => service === owner && (state === "unasked" || state === "silent")))
    return false;
  return services.some(({ state, left }) => state === "unasked" || left.length > 0);
}

function describeMissing({ service, state, left }: ServiceProgress): string | undefined {
  if (state === "silent") return `${service} does not answer`;
  if (state === "unasked") return `${service} has not been reached`;
  if (state === "erasing") return `${service} is erasing`;
  if (left.length === 0) return undefined;
  return `${service} still has ${left.map(({ count, holding }) => `${count} of ${holding}`).join(", ")}`;
}
