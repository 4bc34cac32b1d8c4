import { Fault } from "@tessera/kit/fault";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import { explainFailure } from "./explain-failure.ts";
import { type Examination, type Finding, type PlacedFinding, Skip, skipped } from "./finding.ts";
import { hideSecrets } from "./hide-secrets.ts";

/** Runs examinations at the same time. One that hangs is abandoned; one that throws becomes a finding. */
export async function runExaminations(
  examinations: readonly Examination[],
  limits: { limitMs: number; secrets: readonly string[]; unreadable: readonly string[] },
): Promise<PlacedFinding[]> {
  const found = await Promise.all(
    examinations.map(async (examination) => {
      const findings = await runOne(examination, limits);
      return findings.map((finding) => hideSecrets({ ...finding, area: examination.area }, limits.secrets));
    }),
  );
  return found.flat();
}

async function runOne(
  { subject, settings, examine }: Examination,
  { limitMs, unreadable }: { limitMs: number; unreadable: readonly string[] },
): Promise<readonly Finding[]> {
  if (unreadable.some((name) => settings?.test(name))) return [skipped(subject, "its settings cannot be read")];
  const abort = new AbortController();
  const late = () => new Error(`no end within ${limitMs / 1000} seconds`);
  try {
    return await waitAtMost(limitMs, (async () => examine(abort.signal))(), late);
  } catch (error) {
    if (error instanceof Skip) return [skipped(subject, error.message)];
    // The examination of the configuration names them.
    if (error instanceof Fault && error.code === "configuration_invalid")
      return [skipped(subject, "its settings are refused")];
    return [explainFailure(error, { what: `the examination of ${subject} was not completed` })];
  } finally {
    abort.abort();
  }
}
