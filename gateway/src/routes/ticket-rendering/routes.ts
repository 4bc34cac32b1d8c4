import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import type { TypeOf } from "@tessera/schema/schema";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { detail, notFound } from "../../http/answers.ts";
import { asAttachment, fileShown, pdf, warned, warnsOfPrints } from "../../http/attachment.ts";
import { largestRendered, type ReplyStored, type TakeTurn } from "../../http/downloads.ts";
import { eventUrl } from "../../http/event-url.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { replyUnfinished, unfinishedAnswers } from "../unfinished-jobs/present.ts";
import { ticketRenderingExamples } from "./examples.ts";
import { batchBody, invalidParts, startedShown } from "./schema.ts";

export interface RenderingTargets {
  readonly rendering: Clients["rendering"];
  readonly replyStored: ReplyStored;
  /** Takes a turn for an answer that is in memory. */
  readonly takeTurn: TakeTurn;
}

const rendering: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };

/** Enough for a ticket of many pages. */
const ticketMs = 10_000;

type SentBatch = TypeOf<typeof batchBody.schema>;

/** Tickets as PDF: `ticketpdfrenderer/`, and the download of one ticket. */
export function ticketRenderingRoutes({ rendering: service, replyStored, takeTurn }: RenderingTargets) {
  const startBatch = (request: Incoming<unknown, SentBatch>) =>
    service.startBatch(
      request.inEvent(
        {},
        {
          parts: request.body.parts.map((part) => ({
            position: part.orderposition,
            overrideChannel: part.override_channel ?? undefined,
            overrideLayout: part.override_layout ?? undefined,
          })),
          skipsFailed: request.body.on_error === "skip",
        },
      ),
    );

  return {
    startBatch: declare({
      name: "renderTickets",
      example: ticketRenderingExamples.startBatch,
      summary: "Renders tickets into one file",
      description: "The parts are in the file in the order of the request. It can be downloaded for 24 hours.",
      access: rendering,
      body: batchBody,
      listField: "parts",
      answers: { accepted: { description: "The job was started.", schema: startedShown }, invalid: invalidParts },
      async handle(request) {
        const { job, file: fileId } = await startBatch(request);
        const download = eventUrl(request, "ticketpdfrenderer", "download", job, fileId);
        return { status: "accepted", body: { download } };
      },
    }),

    download: declare({
      name: "downloadRenderedTickets",
      example: ticketRenderingExamples.download,
      summary: "Downloads the file of rendered tickets",
      description: warnsOfPrints,
      access: rendering,
      produces: pdf,
      answers: {
        ok: {
          ...fileShown,
          headers: {
            "X-Tessera-Left-Out":
              "Where parts were to be skipped: those that the file lacks, by their numbers from 1, like `3, 17-20`. `X-Tessera-Warnings` counts them, too.",
          },
        },
        notFound: notFound("There is no such file, or it has expired."),
        ...unfinishedAnswers,
      },
      async handle(request) {
        const { signal } = request;
        const batch = { job: request.uuid("job"), file: request.uuid("file") };
        const found = await service.findBatch(request.inEvent(batch), { signal });
        if (found.state !== JobState.SUCCEEDED) return replyUnfinished(found);
        const { fileKey: key, warnings, leftOut } = found;
        return replyStored(request, { key, name: "tickets.pdf", warnings: warnings.length, leftOut });
      },
    }),

    ticket: declare({
      name: "downloadTicket",
      example: ticketRenderingExamples.ticket,
      summary: "Downloads a ticket as PDF",
      description: `The addresses in \`downloads\` of a ticket lead here. ${warnsOfPrints}`,
      access: rendering,
      produces: pdf,
      answers: {
        ok: fileShown,
        notFound: notFound("The event has no such ticket."),
        conflict: { description: "The ticket cannot be printed: `detail` says what to change.", schema: detail },
      },
      async handle(request) {
        const turn = await takeTurn(request, largestRendered);
        const {
          pdf: content,
          order,
          positionid,
          warnings,
        } = await service.renderTicket(request.inEvent({ position: request.id("position") }), {
          signal: request.signal,
          timeoutMs: ticketMs,
        });
        turn.resize(content.byteLength);
        const body = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
        const headers = { ...asAttachment(`${order}-${positionid}.pdf`), ...warned(warnings) };
        return { status: "ok", type: pdf, body, headers };
      },
    }),
  };
}
