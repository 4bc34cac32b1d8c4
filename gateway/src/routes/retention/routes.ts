import { formatInstant } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { invalid } from "../../http/answers.ts";
import { eventUrl } from "../../http/event-url.ts";
import { declareList } from "../../http/list-route.ts";
import { declare } from "../../http/route.ts";
import { retentionExamples } from "./examples.ts";
import { presentRetention, presentUpcoming } from "./present.ts";
import { erasedShown, retentionBody, retentionShown, upcomingShown } from "./schema.ts";

/** Requires the rights to erase every event of the organizer. */
const shreddingAll: Access = { kind: "organizer", anyOf: ["event.orders:write"] };

/** The retention of personal data of an organizer's events: `retention/` and below. */
export function retentionRoutes({ retention }: Pick<Clients, "retention">) {
  return {
    get: declare({
      name: "getRetention",
      example: retentionExamples.get,
      summary: "Shows how long the personal data of events is kept",
      description: "Without a setting it is off: nothing is erased by itself.",
      access: shreddingAll,
      answers: { ok: { description: "The setting.", schema: retentionShown } },
      async handle({ inOrganizer, signal }) {
        const { retention: set } = await retention.findRetention(inOrganizer({}), { signal });
        return { status: "ok", body: presentRetention(set) };
      },
    }),

    put: declare({
      name: "setRetention",
      example: retentionExamples.put,
      summary: "Has personal data erased by itself after each event",
      description:
        "When an event is over for so many days, it is exported and erased as if somebody had asked for that with its shredders. Each erasure is announced for a week first, those of events that are over for long, too. Any change announces all of them again, and stops those that have not been asked of services yet.",
      access: shreddingAll,
      body: retentionBody,
      answers: { ok: { description: "The setting.", schema: retentionShown }, invalid },
      async handle({ inOrganizer, body, url }) {
        const { retention: set } = await retention.setRetention(
          inOrganizer({ instance: url.base }, { days: body.days, shredders: [...body.shredders] }),
        );
        return { status: "ok", body: presentRetention(set) };
      },
    }),

    remove: declare({
      name: "endRetention",
      example: retentionExamples.remove,
      summary: "Switches retention off",
      description: "An erasure that has been asked of services goes on; all others stop.",
      access: shreddingAll,
      answers: { noContent: { description: "It is off." } },
      async handle({ inOrganizer }) {
        await retention.endRetention(inOrganizer({}));
        return { status: "noContent" };
      },
    }),

    upcoming: declareList({
      name: "listUpcomingErasures",
      example: retentionExamples.upcoming,
      summary: "Lists the erasures of the next seven days, and those that are late",
      description:
        "Events are read again every hour, and within seconds after a change of the setting; of thousands it takes longer. A blocked erasure is never forced: boxoffice is asked again every hour.",
      access: shreddingAll,
      page: "One page, by the time.",
      shows: upcomingShown,
      async find({ inOrganizer, signal }, page) {
        const found = await retention.listUpcoming(inOrganizer(page), { signal });
        return { ...found, results: found.erasures.map(presentUpcoming) };
      },
    }),

    erased: declareList({
      name: "listErasedEvents",
      example: retentionExamples.erased,
      summary: "Lists the erasures that retention has made",
      access: shreddingAll,
      page: "One page, the last erasure first. Those of deleted events are left out.",
      shows: erasedShown,
      async find({ organizer, inOrganizer, url, signal }, page) {
        const found = await retention.listErased(inOrganizer(page), { signal });
        const results = found.erasures.map(({ event, case: id, shredders, erasedAt }) => ({
          event,
          case: id,
          shredders,
          erased: formatInstant(erasedAt),
          certificate: eventUrl({ url, organizer, event }, "shredders", "certificate", id),
        }));
        return { ...found, results };
      },
    }),
  };
}
