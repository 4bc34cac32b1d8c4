import type { CaughtUp } from "@tessera/kit/bus/settle";
import type { Facts } from "@tessera/protos/services";
import { clients as called } from "../clients.ts";

type FactClient = {
  [Name in keyof typeof called]: (typeof called)[Name][1] extends Facts ? Name : never;
}[keyof typeof called];

/** The clients that report how far a service has read. */
export type FactClients = Readonly<Record<FactClient, { readonly caughtUp: CaughtUp }>>;

/** All consumers of others' facts, by name: an import is settled when each has read its facts. */
export function factReaders(
  clients: FactClients,
  { isInstalled, gateway }: { readonly isInstalled: (service: string) => boolean; readonly gateway: CaughtUp },
): ReadonlyMap<string, CaughtUp> {
  const names = Object.keys(called).filter((name): name is FactClient => name.endsWith("Facts"));
  const services = names
    .map((name) => [called[name][0], clients[name].caughtUp] as const)
    .filter(([service]) => isInstalled(service));
  return new Map([...services, ["gateway", gateway]]);
}
