import { alarmKinds } from "@tessera/resources/alarm";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { notFound } from "../../http/answers.ts";
import { declareList } from "../../http/list-route.ts";
import { choiceFilter, flagFilter, numberFilter } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import { alarmExamples } from "./examples.ts";
import { presentAlarm } from "./present.ts";
import { alarmShown } from "./schema.ts";

/** Who watches the gates may say that an alarm was seen. */
const access: Access = { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: [] };

/** What somebody should look at, at the gates of an event: `alarms/` and below. */
export function alarmRoutes({ alarms }: Pick<Clients, "alarms">) {
  return {
    list: declareList({
      name: "listAlarms",
      example: alarmExamples.list,
      summary: "Lists the alarms of an event",
      description:
        "The newest first, with those that have ended within 30 days. An alarm is raised and ended by what was measured; to acknowledge it changes nothing of that.",
      access,
      query: {
        open: flagFilter("Only those that hold, or only the others."),
        kind: choiceFilter("Only those of this kind.", alarmKinds),
        // Gates belong to the organizer; the ids are compared without a lookup.
        gate: numberFilter("Only those of this gate, by its id."),
      },
      page: "One page of alarms.",
      shows: alarmShown,
      async find({ inEvent, query, signal }, page) {
        const { open, kind, gate } = query;
        const found = await alarms.listAlarms(inEvent({ ...page, open, kind, gate }), { signal });
        return { ...found, results: found.alarms.map(presentAlarm) };
      },
    }),

    acknowledge: declare({
      name: "acknowledgeAlarm",
      example: alarmExamples.acknowledge,
      summary: "Notes that somebody has seen an alarm",
      description: "The first who does it counts, and shows to all others. It may be repeated.",
      access,
      answers: {
        ok: { description: "The alarm, with who has acknowledged it first.", schema: alarmShown },
        notFound: notFound("The event has no such alarm."),
      },
      async handle(request) {
        const { alarm } = await alarms.acknowledgeAlarm(
          request.inEvent({ id: request.id("id"), by: request.tenant.name }),
        );
        return { status: "ok", body: presentAlarm(alarm) };
      },
    }),
  };
}
