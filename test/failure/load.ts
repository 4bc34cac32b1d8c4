import type { Edition, Festival } from "./festival.ts";
import { type Gates, openGates } from "./gates.ts";
import { type ImportRun, importUntilAnswered } from "./import-until-answered.ts";
import type { Attempt } from "./scan-history.ts";
import type { Dice } from "./seeded.ts";

/** What a platform has to bear while things die: gates that scan, and one import after the other. */
export interface Load {
  readonly gates: Gates;
  /** Imports that were answered. */
  readonly imports: readonly ImportRun[];
  /** Lets what was begun come to its end, and begins nothing more. */
  finish(): Promise<FinishedLoad>;
}

export interface FinishedLoad {
  readonly attempts: readonly Attempt[];
  readonly imports: readonly ImportRun[];
  readonly edition: Edition;
  /** What no client should meet, whatever dies. */
  readonly oddities: readonly string[];
}

/** Starts gates and an importer against one or several processes of a platform. */
export function startLoad(options: {
  readonly baseUrls: readonly [string, ...string[]];
  readonly festival: Festival;
  readonly dice: Dice;
  readonly connectionsMayBreak: boolean;
}): Load {
  const { baseUrls, festival } = options;
  const dice = options.dice.fork();
  const gates = openGates({ ...options, dice: options.dice.fork() });
  const imports: ImportRun[] = [];
  const oddities: string[] = [];
  let finishing = false;

  async function importEditions(): Promise<Edition> {
    for (let round = 0; ; round += 1) {
      const edition = festival.edition(dice.fork());
      const baseUrl = baseUrls[round % baseUrls.length] ?? baseUrls[0];
      imports.push(await importUntilAnswered({ baseUrl, body: edition.body, oddities }));
      if (finishing) return edition;
    }
  }

  const importing = importEditions();
  // Looked at in the end; until then nobody handles it.
  importing.catch(() => {});
  return {
    gates,
    imports,
    async finish() {
      finishing = true;
      const [edition] = await Promise.all([importing, gates.close()]);
      return { edition, imports, attempts: gates.attempts, oddities: [...gates.oddities, ...oddities] };
    },
  };
}

/** When gates were next told something certain, in milliseconds from an instant of `performance.now()`. */
export function recoveryMs(attempts: readonly Attempt[], from: number): number {
  const certain = attempts.filter(({ outcome }) => outcome.kind === "admitted" || outcome.kind === "refused");
  const next = certain.filter(({ invokedAt }) => invokedAt >= from).map(({ endedAt }) => endedAt - from);
  return next.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...next);
}

/** Says how often a kind of outcome was met, for a test that must not pass because nothing happened. */
export function countOutcomes(attempts: readonly Attempt[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of attempts) {
    const name = "reason" in outcome ? outcome.reason : outcome.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
