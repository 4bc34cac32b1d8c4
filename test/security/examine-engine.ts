import { lookAround, type Surroundings } from "@tessera/cli/configuration/surroundings";
import { systemClock } from "@tessera/kit/clock";
import type { Finding } from "@tessera/kit/service/finding";

/** The first thing that an examination finds with these settings, as the doctor prints it. */
export async function examineEngine(
  examine: (around: Surroundings) => Promise<readonly Finding[]>,
  environment: Readonly<Record<string, string>>,
  names: readonly string[] = ["all"],
): Promise<string> {
  const question = { names, environment, data: "/nonexistent", health: [] };
  const around = await lookAround(question, { clock: systemClock });
  try {
    const [finding] = await examine(around);
    if (finding === undefined) return "nothing";
    const { level, what, why, mend } = finding;
    return [`${level}: ${what}`, why, mend].filter((part) => part !== undefined).join(" | ");
  } finally {
    await around.database.close();
  }
}
