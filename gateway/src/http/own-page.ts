import type { Fault } from "@tessera/kit/fault";
import { fault } from "../faults.ts";

/** Whether a request comes from a page of this deployment, as its browser says; undefined: it says nothing. */
export function isFromOwnPage(header: (name: string) => string, base: string): boolean | undefined {
  const site = header("Sec-Fetch-Site");
  if (site !== "") return site === "same-origin";
  const origin = header("Origin");
  return origin === "" ? undefined : origin === new URL(base).origin;
}

export function foreignPage(): Fault {
  return fault(
    "foreign_page",
    "Only pages of this server may sign in, and change something with the cookie of a session.",
  );
}
