import { Fault } from "@tessera/kit/fault";
import { type Finding, skipped, well } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";
import { tellFailure, tellRefusal } from "./tell-failure.ts";

/** Examines whether a service's schema and role are there, and whether every migration was applied unchanged. */
export async function examineSchema({ database }: Surroundings, service: Service): Promise<Finding[]> {
  if ((await database.absence()) !== undefined)
    return [skipped(`the schema of ${service.name}`, "there is no database that answers")];
  const refusal = await database.refusal(service);
  if (refusal === undefined) return [well(`the schema of ${service.name} is up to date`)];
  if (refusal instanceof Fault && refusal.kind === "unmet") return tellRefusal(refusal);
  return [tellFailure(refusal, { what: `the schema of ${service.name} cannot be read` })];
}
