import { systemClock } from "@tessera/kit/clock";
import type { Environment } from "@tessera/kit/config/config";
import { fault } from "../faults.ts";
import { examineConfiguration } from "./examine-configuration.ts";
import { lookAround } from "./surroundings.ts";

/** Reports everything that is wrong with the settings of services, before anything starts. */
export async function requireConfiguration(
  names: readonly string[],
  { environment, data }: { environment: Environment; data: string },
): Promise<void> {
  const around = await lookAround({ names, environment, data, health: [] }, { clock: systemClock });
  try {
    const findings = await examineConfiguration(around);
    const problems = findings.filter(({ level }) => level === "wrong");
    if (problems.length === 0) return;
    // The allowed values of a setting are its remedy, too.
    const lines = problems.map(({ what, mend }) =>
      mend === undefined || what.includes(" must be ") ? what : `${what}; ${mend}`,
    );
    throw fault(
      "configuration_invalid",
      lines.length === 1 ? `configuration: ${lines[0]}` : `configuration:\n  ${lines.join("\n  ")}`,
    );
  } finally {
    await around.database.close();
  }
}
