import { randomInt, randomUUID } from "node:crypto";
import { type CaughtUp, settle } from "@tessera/kit/bus/settle";
import type { Files } from "@tessera/kit/files/files";
import { WorkFailed, workOn } from "@tessera/kit/jobs/work-on";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { Facts } from "@tessera/protos/services";
import { formatInstant } from "@tessera/values";
import { type HolderClients, holdersOf } from "../cases/holders.ts";
import { exporting, exportsPrefix, workId } from "../cases/work.ts";
import { type SourceFile, writeZip } from "../export/write-zip.ts";
import { fault } from "../faults.ts";
import { type Export, findExport, storeFile, storeVersions } from "../store/exports.ts";

export interface ExportTools extends HolderClients {
  readonly checkinFacts: Pick<Client<Facts>, "markFacts">;
  readonly boxofficeFacts: { readonly caughtUp: CaughtUp };
  readonly db: Db;
  readonly files: Files;
}

/** A service reads all rows of an event to say whether it has changed. */
const describeMs = 30_000;

/** Answers mostly are there within a second. */
const settleMs = 20_000;

/**
 * An event that changes while it is read is read again, so that its files show one moment. After so many times they are kept as
 * they are: no erasure follows, because the event has changed since.
 */
const mostReadings = 3;

/** Makes exports: what services say of the event is noted first, then everything is read. */
export const makeExports = workOn(
  exporting,
  async ({ payload, signal, step, ifLost, keepFile }, tools: ExportTools) => {
    const wanted = await findExport(tools.db, payload);
    if (wanted === undefined) throw new WorkFailed("The export is over.");
    const texts = writeIndex(wanted);
    for (let readings = 1; ; readings += 1) {
      const { versions, sources } = await describe(wanted, tools, signal);
      await step((tx) => storeVersions(tx, payload, versions));
      const fileKey = `${exportsPrefix}${workId(payload)}/${randomUUID()}.zip`;
      const remove = () => tools.files.remove([fileKey]);
      ifLost(remove);
      const content = writeZip({ texts, sources, files: tools.files, of: payload, signal });
      const { sha256 } = await tools.files.put(fileKey, keepFile(content), { contentType: "application/zip" });
      if (readings < mostReadings) {
        const isOfOneMoment = await isUnchanged(versions, wanted, tools, signal).catch(async (error: unknown) => {
          await remove();
          throw error;
        });
        if (!isOfOneMoment) {
          await remove();
          continue;
        }
      }
      if (!(await step((tx) => storeFile(tx, payload, { fileKey, sha256 })))) {
        await remove();
        throw new WorkFailed("The data was erased while it was exported.");
      }
      return async () => undefined;
    }
  },
);

type Versions = Readonly<Record<string, string>>;

/** Asks all services for the version of the event, and for their files of the chosen kinds. */
async function describe({ organizer, event, kinds }: Export, tools: ExportTools, signal: AbortSignal) {
  const versions: Record<string, string> = {};
  const sources: SourceFile[] = [];
  for (const holder of holdersOf(tools).toReversed()) {
    if (holder.service === "boxoffice") await settleAnswers(tools, signal);
    const { version, files } = await holder.client.describeEvent(
      { organizer, event },
      { signal, timeoutMs: describeMs },
    );
    versions[holder.service] = version;
    const chosen = files.filter(({ kind }) => kinds.includes(kind));
    sources.unshift(...chosen.map((file) => ({ ...file, holder })));
  }
  return { versions, sources };
}

/** Whether an event has the same versions in all services. */
async function isUnchanged(
  versions: Versions,
  { organizer, event }: Export,
  tools: ExportTools,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { service, client } of holdersOf(tools)) {
    const { version } = await client.describeEvent({ organizer, event }, { signal, timeoutMs: describeMs });
    if (version !== versions[service]) return false;
  }
  return true;
}

/**
 * Waits until boxoffice, which exports answers, has those that gates had given when check-in was described. Later ones
 * change the version of check-in.
 */
async function settleAnswers({ checkinFacts, boxofficeFacts }: ExportTools, signal: AbortSignal): Promise<void> {
  const until = Date.now() + settleMs;
  if (await settle({ owner: checkinFacts, readers: [boxofficeFacts.caughtUp], until, signal })) return;
  throw fault("answers_missing", "boxoffice has not stored the answers given at gates yet");
}

/** Kinds that no service holds: records do not bring them. */
const heldNowhere: ReadonlySet<string> = new Set(["invoices", "payment_info"]);

/** The two files of every export (D5.1). */
function writeIndex({ instance, organizer, event, startedAt, kinds }: Export): Record<string, string> {
  const code = makeCode();
  const without = kinds.filter((kind) => heldNowhere.has(kind));
  const index = {
    instance,
    organizer,
    event,
    time: formatInstant(startedAt),
    shredders: kinds,
    confirm_code: code,
    ...(without.length === 0 ? {} : { held_nowhere: without }),
  };
  return { "CONFIRM_CODE.txt": code, "index.json": `${JSON.stringify(index, undefined, 2)}\n` };
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 6;

function makeCode(): string {
  return Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join("");
}
