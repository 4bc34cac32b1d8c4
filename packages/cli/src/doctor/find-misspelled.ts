import { type Environment, isServiceLink } from "@tessera/kit/config";
import { distance } from "fastest-levenshtein";
import { type Finding, warning } from "./finding.ts";

const ourPrefix = "TESSERA_";

/** Finds variables that nothing reads and that were probably meant for a setting. Values are never printed. */
export function findMisspelled(environment: Environment, known: readonly string[]): Finding[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.includes(name) || isServiceLink(name, value)) return [];
    const isOurs = name.startsWith(ourPrefix);
    const meant = closest(name, known) ?? (isOurs ? closest(name.slice(ourPrefix.length), known) : undefined);
    // Where the setting is there as well, the other variable belongs to another program.
    if (!isOurs && (meant === undefined || environment[meant])) return [];
    return [
      warning(`${name} is not a setting`, {
        why: "nothing reads it, so its value has no effect",
        mend: meant === undefined ? "correct its name, or remove it" : `call it ${meant}, or remove it`,
      }),
    ];
  });
}

/** The known name that differs in few letters; a short name is close to too many others. */
function closest(given: string, known: readonly string[]): string | undefined {
  const found = known
    .map((name) => ({ name, letters: distance(given.toUpperCase(), name), most: Math.floor((name.length - 2) / 4) }))
    .filter(({ letters, most }) => letters <= Math.min(2, most))
    .sort((a, b) => a.letters - b.letters);
  return found[0]?.name;
}
