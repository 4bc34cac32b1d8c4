import type { ServiceDefinition } from "@tessera/kit/service";

// biome-ignore lint/suspicious/noExplicitAny: definitions differ in their settings; each reads its own
type AnyService = ServiceDefinition<any>;

/** Every service this repository can be. Imports are lazy: a process loads only what it runs. */
export const services: Readonly<Record<string, () => Promise<AnyService>>> = {
  boxoffice: async () => (await import("@tessera/boxoffice")).boxoffice,
  checkin: async () => (await import("@tessera/checkin")).checkin,
  gateway: async () => (await import("@tessera/gateway")).gateway,
};

/** Loads services by name; `all` stands for every one. */
export async function loadServices(names: readonly string[]): Promise<AnyService[]> {
  const wanted = names.includes("all") ? Object.keys(services) : [...new Set(names)];
  return Promise.all(
    wanted.map((name) => {
      const load = services[name];
      if (load === undefined) throw new Error(`unknown service ${name}`);
      return load();
    }),
  );
}
