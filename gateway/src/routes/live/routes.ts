import { Readable } from "node:stream";
import { shareAnswers } from "@tessera/kit/waiting/share-answers";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { prefers } from "../../http/accepts.ts";
import { notFound } from "../../http/answers.ts";
import { type DownloadLimits, downloadTurns } from "../../http/downloads.ts";
import { declare, type Incoming, type Reply } from "../../http/route.ts";
import type { HeardDevice } from "../../store/device-contacts.ts";
import { liveExamples } from "./examples.ts";
import { presentLastHour, presentLive } from "./present.ts";
import { lastHourShown, liveShown } from "./schema.ts";
import { writeFrames } from "./write-frames.ts";

const json = "application/json";
const events = "text/event-stream";
const access: Access = { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: [] };

/** A viewer costs a connection and little else. */
const limits: DownloadLimits = { total: 2048, each: 512, waitMs: 0, longestMs: 120_000 };

/** So long a revoked credential may go on watching: a request finds it out, and nothing else. */
const longestMs = 60_000;

/** All who watch an event see the same frame. */
const shared = { keptMs: 900, longestMs: 10_000, most: 500 };

export interface LiveTargets extends Pick<Clients, "live"> {
  /** The devices of an organizer that were heard of lately, and are for this event. */
  readonly findHeard: (organizer: string, event: string) => Promise<readonly HeardDevice[]>;
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
}

/** How the gates of an event run right now: `live/` and below. */
export function liveRoutes({ live, findHeard, stopping }: LiveTargets) {
  const share = shareAnswers<string>(shared);
  const takeTurn = downloadTurns(limits, () =>
    fault("viewers_busy", "Too many watch events of this organizer at once; ask again soon.", { retryAfterMs: 5000 }),
  );

  /** Reads one frame as JSON. */
  function read(request: Incoming): Promise<string> {
    const { organizer, event } = request;
    const message = request.inEvent({});
    return share(`${organizer}/${event}`, async () => {
      const [counted, heard] = await Promise.all([live.readLive(message, {}), findHeard(organizer, event)]);
      return JSON.stringify(presentLive(counted, heard));
    });
  }

  return {
    read: declare({
      name: "readLive",
      example: liveExamples.read,
      summary: "How the gates of an event run right now",
      description:
        "Counts of the lists, scans of the last minute by gate and device, and the newest refusals; without personal data. As Server-Sent Events a new state comes each second, and an answer ends after a minute: clients connect again.",
      access,
      produces: [json, events],
      answers: {
        ok: { description: "The state, at most a second old.", schema: liveShown },
        notFound: notFound("There is no such event."),
      },
      async handle(request): Promise<Reply> {
        const { signal, isHead } = request;
        const isStream = prefers(request, events, json);
        const headers = { "Cache-Control": "no-store", Vary: "Accept" };
        if (!isStream) return { status: "ok", type: json, headers, body: Buffer.from(await read(request)) };
        await takeTurn(request, 1);
        const first = await read(request);
        const end = { until: performance.now() + longestMs, signal: AbortSignal.any([signal, stopping]) };
        const frames = isHead ? [] : writeFrames(first, () => read(request), end);
        return {
          status: "ok",
          type: events,
          headers: { ...headers, "X-Accel-Buffering": "no" },
          body: Readable.from(frames),
        };
      },
    }),

    lastHour: declare({
      name: "readLastHour",
      example: liveExamples.lastHour,
      summary: "The scans of the last hour by minute and gate",
      access,
      answers: {
        ok: { description: "The minutes, at most ten seconds old.", schema: lastHourShown },
        notFound: notFound("There is no such event."),
      },
      async handle(request) {
        return {
          status: "ok",
          body: presentLastHour(await live.readLastHour(request.inEvent({}), { signal: request.signal })),
        };
      },
    }),
  };
}
