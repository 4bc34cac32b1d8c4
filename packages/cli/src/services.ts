import type { ClientMap, ServiceDefinition } from "@tessera/kit/service";
import { VoucherShop } from "@tessera/protos/services";
import { fault } from "./faults.ts";

// biome-ignore lint/suspicious/noExplicitAny: each definition has settings of its own
type AnyService = ServiceDefinition<any>;

/** All services. Imports are lazy: a process loads only what it runs. */
export const services: Readonly<Record<string, () => Promise<AnyService>>> = {
  boxoffice: async () => (await import("@tessera/boxoffice")).boxoffice,
  checkin: async () => (await import("@tessera/checkin")).checkin,
  gateway: async () => (await import("@tessera/gateway")).gateway,
  "layout-and-render": async () => (await import("@tessera/layout-and-render")).layoutAndRender,
  "offline-sales": async () => (await import("@tessera/offline-sales")).offlineSales,
  shredder: async () => (await import("@tessera/shredder")).shredder,
  voucher: async () => (await import("@tessera/voucher")).voucher,
};

/** The clients of each service, so that a process knows the callers of its services without loading them. */
export const clientMaps: Readonly<Record<string, () => Promise<ClientMap>>> = {
  boxoffice: async () => (await import("@tessera/boxoffice/clients")).clients,
  checkin: async () => (await import("@tessera/checkin/clients")).clients,
  gateway: async () => (await import("@tessera/gateway/clients")).clients,
  "layout-and-render": async () => (await import("@tessera/layout-and-render/clients")).clients,
  "offline-sales": async () => (await import("@tessera/offline-sales/clients")).clients,
  shredder: async () => (await import("@tessera/shredder/clients")).clients,
  voucher: async () => (await import("@tessera/voucher/clients")).clients,
};

/** Callers outside of the platform, by the name of their certificates, and what they call. */
export const outsideCallers: Readonly<Record<string, ClientMap>> = { shop: { vouchers: ["voucher", VoucherShop] } };

/** Refuses unknown names, and names beside `all`, because they would have no effect. */
export function requireServices(names: readonly string[]): void {
  refuseUnknown(names);
  if (names.includes("all") && names.length > 1)
    throw fault("all_and_more", "`all` stands alone: name it, or the services that are meant");
}

/** Loads services by name; `all` means every one. */
export async function loadServices(names: readonly string[]): Promise<AnyService[]> {
  const known = Object.keys(services);
  const wanted = names.includes("all") ? known : [...new Set(names)];
  refuseUnknown(names);
  return Promise.all(wanted.flatMap((name) => services[name]?.() ?? []));
}

function refuseUnknown(names: readonly string[]): void {
  const known = Object.keys(services);
  const unknown = names.filter((name) => name !== "all" && !known.includes(name));
  if (unknown.length > 0)
    throw fault("unknown_service", `there is no service ${unknown.join(", ")}; the services are ${known.join(", ")}`);
}
