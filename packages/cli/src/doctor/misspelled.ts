import type { Environment } from "@tessera/kit/config";
import { closestName } from "./closest-name.ts";
import type { Finding } from "./finding.ts";

const ourPrefix = "TESSERA_";

/** Kubernetes tells every pod of the services beside it in variables that nobody wrote. */
function isServiceLink(name: string, value: string): boolean {
  return /_SERVICE_(?:HOST|PORT)|_PORT_[0-9]+_(?:TCP|UDP|SCTP)/.test(name) || /^(?:tcp|udp|sctp):\/\//.test(value);
}

/** Finds variables that nothing reads and that were probably meant for something. Values are never told. */
export function findMisspelled(environment: Environment, known: readonly string[]): Finding[] {
  return Object.entries(environment).flatMap(([name, value]): Finding[] => {
    if (value === undefined || value === "" || known.includes(name) || isServiceLink(name, value)) return [];
    const bare = name.startsWith(ourPrefix) ? name.slice(ourPrefix.length) : name;
    const meant = closestName(name, known) ?? (bare === name ? undefined : prefixless(bare, known));
    if (meant === undefined && bare === name) return [];
    // Both are set: the other one is another program's.
    if (meant !== undefined && bare === name && environment[meant]) return [];
    return [
      {
        level: "warning",
        what: `${name} is not a setting`,
        why: "nothing reads it, so what it says has no effect",
        mend: meant === undefined ? "correct its name, or remove it" : `call it ${meant}, or remove it`,
      },
    ];
  });
}

function prefixless(bare: string, known: readonly string[]): string | undefined {
  return known.includes(bare) ? bare : closestName(bare, known);
}
