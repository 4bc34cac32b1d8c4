import { fault } from "../faults.ts";

/** Reads the ids of parked facts; undefined: none are named. */
export function readIds({
  id,
  service,
}: {
  readonly id: string | undefined;
  readonly service: string | undefined;
}): number[] | undefined {
  if (id === undefined) return undefined;
  const ids = id.split(",").map((each) => each.trim());
  if (ids.some((each) => !/^\d{1,15}$/.test(each)))
    throw fault("bad_id", "--id takes whole numbers, separated by commas");
  if (service === undefined || service === "all")
    throw fault("ids_of_no_service", "--id requires --service: each service has its own ids");
  return ids.map(Number);
}
