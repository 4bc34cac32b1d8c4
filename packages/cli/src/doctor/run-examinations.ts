import { waitAtMost } from "@tessera/kit/wait-at-most";
import type { Examination, Finding, PlacedFinding } from "./finding.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { tellFailure } from "./tell-failure.ts";

/** Runs examinations side by side; one that hangs is given up, and one that breaks is itself a finding. */
export async function runExaminations(
  examinations: readonly Examination[],
  { limitMs, secrets }: { limitMs: number; secrets: readonly string[] },
): Promise<PlacedFinding[]> {
  const found = await Promise.all(
    examinations.map(async (examination) => {
      const findings = await runOne(examination, limitMs);
      return findings.map((finding) => hideSecrets({ ...finding, area: examination.area }, secrets));
    }),
  );
  return found.flat();
}

async function runOne({ area, subject, examine }: Examination, limitMs: number): Promise<readonly Finding[]> {
  const about = subject === undefined ? area : `${area} (${subject})`;
  const abort = new AbortController();
  const late = () => new Error(`no end within ${limitMs / 1000} seconds`);
  try {
    return await waitAtMost(limitMs, (async () => examine(abort.signal))(), late);
  } catch (error) {
    return [tellFailure(error, { what: `the examination of ${about} did not come to an end` })];
  } finally {
    abort.abort();
  }
}
