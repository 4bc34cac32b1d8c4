import { Readable } from "node:stream";
import { scanProfiles } from "@tessera/values";
import { holds, type Tenant } from "../../access/caller.ts";
import type { DeviceContacts } from "../../access/remember-contacts.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { acceptsCoding, prefers } from "../../http/accepts.ts";
import { detail, invalid, notFound } from "../../http/answers.ts";
import { fileShown } from "../../http/attachment.ts";
import { type DownloadLimits, downloadTurns } from "../../http/downloads.ts";
import { choiceFilter, flag, slugsFilter, textFilter, waitFilter } from "../../http/parameter.ts";
import { declare, type Incoming, type Reply } from "../../http/route.ts";
import { zip } from "../../http/zip.ts";
import { packExample, syncExample } from "./examples.ts";
import { tooOld } from "./present.ts";
import { feedLines } from "./schema.ts";
import { type ReadFeed, writeEvents, writeLines } from "./write-feed.ts";

const ndjson = "application/x-ndjson";
const events = "text/event-stream";

export interface SyncTargets extends Pick<Clients, "sync"> {
  readonly contacts: Pick<DeviceContacts, "noteSync">;
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
}

/** A gate that waits costs a connection and little else. */
const limits: DownloadLimits = { total: 2048, each: 512, waitMs: 0, longestMs: 1_800_000 };

/** A pack stays in memory until the client has read it. */
const packLimits: DownloadLimits = { total: 16, each: 8, waitMs: 20_000, longestMs: 300_000 };

/** A hundred thousand tickets take about two seconds. */
const packMs = 30_000;

/** Proxies close connections that are silent for a minute. */
const longestWait = 25;

/** So long a revoked credential may go on reading: a request finds it out, and nothing else. */
const longestMs = 60_000;

/** What checkin needs beside the wait. */
const readMs = 8000;

/** The sync feed of gates: `sync/`. */
export function syncRoutes({ sync, contacts, stopping }: SyncTargets) {
  const takePackTurn = downloadTurns(packLimits);
  const takeTurn = downloadTurns(limits, () =>
    fault("feed_busy", "Too many gates of this organizer read the feed at once; ask again soon.", {
      retryAfterMs: 2000,
    }),
  );

  return {
    read: declare({
      name: "readSyncFeed",
      example: syncExample,
      summary: "Everything that gates need to decide scans, and its changes",
      description:
        "One JSON object a line, a `FeedLine`: `kind`, `event`, `id`, and `data` or `deleted`. Keep of each entity its last line; store the `cursor` of a line of that kind with all lines before it, and ask again with `after`. An answer ends when nothing more is to be told, and after a minute. As Server-Sent Events the lines are the data, and the id of each event is a cursor.",
      access: { kind: "member", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: scanProfiles },
      produces: [ndjson, events],
      query: {
        after: textFilter("The cursor of an earlier answer. Default: everything, from the beginning."),
        events: slugsFilter(
          "Slugs of the events to follow, with commas between them. Default: all that the credentials are for.",
        ),
        codes: choiceFilter(
          "`hashed`: hashes instead of codes, and nothing that names a person, as in a pack. Credentials that may not read orders need it.",
          ["clear", "hashed"] as const,
        ),
        wait: waitFilter(
          "Where nothing has changed, waits for a change, at most so many seconds. Default: 0.",
          longestWait,
        ),
      },
      headers: {
        "Last-Event-ID": {
          description: "The cursor of the last event, which goes before `after`; with `Accept: text/event-stream`.",
          required: false,
        },
      },
      answers: {
        ok: { description: "Lines, each a `FeedLine`.", schema: feedLines },
        invalid,
        forbidden: { description: "An event that the credentials are not for.", schema: detail },
        gone: { description: "The cursor is too old, or of other events: begin without `after`.", schema: detail },
      },
      async handle(request): Promise<Reply> {
        const { query, signal, isHead } = request;
        const end = { until: performance.now() + longestMs, signal: AbortSignal.any([signal, stopping]) };
        const isStream = prefers(request, events, ndjson);
        const after = (isStream && request.header("Last-Event-ID")) || (query.after ?? "");
        const readNext = reader(sync, request, query);
        const read: ReadFeed = async (from, ms) => {
          const part = await readNext(from, ms);
          if (part.isComplete) contacts.noteSync(request.tenant);
          return part;
        };
        const waitMs = isStream ? 0 : query.wait * 1000;
        await takeTurn(request, 1);
        const first = await read(after, waitMs);
        if (first.isTooOld) return tooOld;
        const headers = { "Cache-Control": "no-store", "X-Accel-Buffering": "no", Vary: "Accept, Accept-Encoding" };
        if (isHead) return { status: "ok", type: isStream ? events : ndjson, headers, body: Readable.from([]) };
        if (isStream) {
          const written = writeEvents(first, read, { ...end, waitMs: longestWait * 1000 });
          return { status: "ok", type: events, headers, body: Readable.from(written) };
        }
        const lines = writeLines(first, read, end);
        return acceptsCoding(request.header("Accept-Encoding"), "gzip")
          ? { status: "ok", type: ndjson, headers: { ...headers, "Content-Encoding": "gzip" }, body: zip(lines) }
          : { status: "ok", type: ndjson, headers, body: Readable.from(lines) };
      },
    }),

    pack: declare({
      name: "readPack",
      example: packExample,
      summary: "All tickets of an event in one binary file",
      description:
        "For pages and small boxes that decide without a network: hashes instead of codes, 28 bytes a ticket. It is as old as half a minute; the feed brings what has changed since the cursor of the first pack. The documentation of the sync feed has the format.",
      access: { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: scanProfiles },
      produces: "application/octet-stream",
      query: {
        from: textFilter("`next` of the pack before, as it was. Default: the first pack."),
        names: flag("Names, orders and seats, too; for credentials that may read orders."),
      },
      answers: {
        ok: fileShown,
        invalid,
        forbidden: { description: "Names for credentials that may not read orders.", schema: detail },
        notFound: notFound("There is no such event."),
      },
      async handle(request): Promise<Reply> {
        const { query, tenant, signal } = request;
        if (query.names && !mayHoldOrders(tenant)) throw fault("forbidden", "These credentials may not read names.");
        await takePackTurn(request, 1);
        const asked = { from: query.from ?? "", withNames: query.names };
        const { pack } = await sync.readPack(request.inEvent(asked), { signal, timeoutMs: packMs });
        return { status: "ok", type: "application/octet-stream", body: Buffer.from(pack) };
      },
    }),
  };
}

/** Whether orders may leave the server for the device of the caller. */
function mayHoldOrders(tenant: Tenant): boolean {
  return holds(tenant, "event.orders:read") && (tenant.profile === "full" || tenant.profile === "pretixscan");
}

/** Reads the feed of the events that the request names, all of which its credentials have to be for. */
function reader(
  sync: Clients["sync"],
  request: Incoming,
  { events: asked, codes }: { readonly events: readonly string[] | undefined; readonly codes: string | undefined },
): ReadFeed {
  const { tenant, signal } = request;
  const hashed = codes === "hashed";
  if (!hashed && !mayHoldOrders(tenant)) throw fault("forbidden", "These credentials may follow `codes=hashed` alone.");
  const denied = asked?.filter((event) => tenant.events?.has(event) === false) ?? [];
  if (denied.length > 0)
    throw fault("forbidden", `There is no event ${denied.join(", ")}, or these credentials are not for it.`);
  const slugs = asked ?? (tenant.events && [...tenant.events]);
  return (after, waitMs) =>
    sync.readChanges(
      request.inOrganizer({
        among: slugs && { slugs: [...slugs] },
        mustExist: asked !== undefined,
        hashed,
        after,
        waitMs,
      }),
      { signal, timeoutMs: waitMs + readMs },
    );
}
