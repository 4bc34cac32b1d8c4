import { Fault } from "@tessera/kit/fault";
import { explainFailure, explainRefusal } from "./explain-failure.ts";
import { type Finding, well } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Examines whether a service's schema and role are there, and whether every migration was applied unchanged. */
export async function examineSchema({ database }: Surroundings, service: Service): Promise<Finding[]> {
  const refusal = await database.refusal(service);
  if (refusal === undefined) return [well(`the schema of ${service.name} is up to date`)];
  if (refusal instanceof Fault && refusal.kind === "unmet") return explainRefusal(refusal);
  return [explainFailure(refusal, { what: `the schema of ${service.name} cannot be read` })];
}
