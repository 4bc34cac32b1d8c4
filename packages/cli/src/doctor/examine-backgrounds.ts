import { openFiles } from "../open-engines.ts";
import { describeCount } from "./describe-amount.ts";
import { isGone } from "./examine-files.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, Skip, wrong } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** More than a person reads at once. */
const mostNamed = 5;

/** Examines whether the files of all backgrounds are there: they are nowhere else. */
export async function examineBackgrounds(
  { config, database, madeFiles }: Pick<Surroundings, "config" | "database" | "madeFiles">,
  layoutAndRender: Service,
): Promise<Finding[]> {
  const { findWithoutFile } = await import("@tessera/layout-and-render/backgrounds");
  const db = await database.as(layoutAndRender);
  if (await isGone({ config, madeFiles })) throw new Skip("the folder for files is gone");
  const files = await openFiles(config);
  try {
    const lacking = await findWithoutFile(db, files);
    if (lacking.length === 0) return [ok("the background of every layout is stored")];
    const named = lacking.slice(0, mostNamed).map(({ organizer, event, id }) => `${organizer}/${event}/${id}`);
    const others = lacking.length > mostNamed ? ", …" : "";
    return [
      wrong(
        `the file store lacks the background of ${describeCount(lacking.length, "layout")} (${named.join(", ")}${others})`,
        {
          why: "their tickets cannot be printed",
          mend: "restore backgrounds/ of the file store from a backup, or set these backgrounds again",
        },
      ),
    ];
  } catch (error) {
    return [explainFailure(error, { what: "the backgrounds of layouts cannot be looked for" })];
  } finally {
    await files.close();
  }
}
