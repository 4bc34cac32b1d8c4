import { clientMaps, loadServices, outsideCallers } from "@tessera/cli/services";
import type { Settings } from "@tessera/kit/config/config";
import type { ClientMap } from "@tessera/kit/service";

/** What the chart has to know of the code: who calls whom, which services a deployment may lack, and the settings of each. */
export async function readDeclaredServices() {
  const definitions = await loadServices(["all"]);
  const services = await Promise.all(
    definitions.map(async ({ name, settings }) => {
      const calls = calledBy((await clientMaps[name]?.()) ?? {});
      const names = Object.values(settings as Settings).map((setting) => setting.name);
      return [name, { calls, settings: names.sort() }] as const;
    }),
  );
  return {
    services: Object.fromEntries(services.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    optional: [...new Set(definitions.flatMap(({ optional }) => optional ?? []))].sort(),
    outsideCallers: Object.fromEntries(
      Object.entries(outsideCallers).map(([caller, clients]) => [caller, calledBy(clients)]),
    ),
  };
}

function calledBy(clients: ClientMap): string[] {
  return [...new Set(Object.values(clients).map(([service]) => service))].sort();
}
