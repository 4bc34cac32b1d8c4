import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import { implement } from "@tessera/kit/rpc";
import { type LinkMediumRequest, MediumLink } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import type { WantedTicket } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import type {
  CheckinListFields,
  CheckinList as CheckinListOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import {
  Alarms,
  CheckinLists,
  Doubles,
  ListedPositions,
  Live,
  Media,
  Records,
  ScanHistory,
  Scans,
  Sync,
  Tickets,
} from "@tessera/protos/services";
import { plainList } from "@tessera/testkit/plain-fields";
import { startForTest } from "@tessera/testkit/start-for-test";
import { checkin } from "../index.ts";
import { noon, place } from "./facts.ts";

/** The service on a database, called as its peers call it. */
export interface RunningCheckin extends Awaited<ReturnType<typeof startCheckin>> {}

/** Starts the service on a database, at noon. */
export async function startCheckin(db: Db, { reads }: { reads?: Reads } = {}) {
  const sales = {
    /** The codes that boxoffice was asked for. */
    asked: [] as string[],
    /** What boxoffice finds: nothing, unless a test sells something. */
    sold: async (_wanted: readonly WantedTicket[]): Promise<Uint8Array[]> => [],
    /** The media that boxoffice was asked to link. */
    toLink: [] as LinkMediumRequest[],
    /** What boxoffice says of them. */
    linked: async (): Promise<MediumLink> => MediumLink.LINKED,
  };
  const media = implement(Media, {
    linkMedium: async (request) => {
      sales.toLink.push(request);
      return { result: await sales.linked() };
    },
  });
  const tickets = implement(Tickets, {
    findTickets: async ({ tickets: wanted }) => {
      sales.asked.push(...wanted.map(({ secret }) => secret));
      return { facts: await sales.sold(wanted) };
    },
    findAmbiguousSecrets: () => Promise.reject(new Error("check-in does not ask for them")),
  });
  const service = await startForTest(checkin, {
    db,
    ...(reads && { reads }),
    now: noon,
    peers: { boxoffice: [tickets, media] },
  });
  const lists = service.connect(CheckinLists);
  const scans = service.connect(Scans);
  const redeem = async (sent: Scan): Promise<ScanOutcome> => {
    const { outcome } = await scans.redeem({ scan: sent }, { timeoutMs: 20_000 });
    if (outcome === undefined) throw new Error("no outcome came back");
    return outcome;
  };
  return Object.assign(sales, {
    ...service,
    lists,
    positions: service.connect(ListedPositions),
    history: service.connect(ScanHistory),
    doubles: service.connect(Doubles),
    live: service.connect(Live),
    alarms: service.connect(Alarms),
    records: service.connect(Records),
    sync: service.connect(Sync),

    async createList(fields: Partial<CheckinListFields> = {}): Promise<CheckinListOnWire> {
      const { list } = await lists.createCheckinList({ ...place, fields: listFields(fields) });
      if (list === undefined) throw new Error("no list came back");
      return list;
    },

    redeem,

    /** Scans several codes at once. */
    redeemAll: (sent: readonly Scan[]): Promise<ScanOutcome[]> => Promise.all(sent.map(redeem)),

    /** Restores the state after the start. */
    async reset(): Promise<void> {
      await service.reset();
      sales.asked = [];
      sales.sold = async () => [];
      sales.toLink = [];
      sales.linked = async () => MediumLink.LINKED;
    },
  });
}

/** A list of everything, unless told otherwise. */
export function listFields(changes: Partial<CheckinListFields> = {}): CheckinListFields {
  return { ...plainList, ...changes };
}

/** A scan of a code by an up-to-date device. */
export function scan(list: number, lookup: string, changes: Partial<Scan> = {}): Scan {
  return {
    ...place,
    list,
    lookup,
    untrustedInput: true,
    type: ScanType.ENTRY,
    force: false,
    ignoreUnpaid: false,
    canceledSupported: true,
    questionsSupported: true,
    answers: [],
    sourceType: "barcode",
    useOrderLocale: false,
    ...changes,
  };
}

/** An outcome in one word: the reason of a refusal. */
export function inWord({ outcome }: ScanOutcome): string {
  return outcome?.$case === "refused" ? outcome.value.reason : (outcome?.$case ?? "nothing");
}
