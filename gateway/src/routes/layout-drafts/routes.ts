import { type DraftLayout, PreviewFormat } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { TypeOf } from "@tessera/schema/schema";
import { holds } from "../../access/caller.ts";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { detail, invalid, notAllowed } from "../../http/answers.ts";
import { asAttachment, warned } from "../../http/attachment.ts";
import { largestRendered, type TakeTurn } from "../../http/downloads.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { type FindUploads, findBackground } from "../ticket-layouts/find-background.ts";
import { layoutDraftExamples } from "./examples.ts";
import { findingsShown, lintBody, previewBody } from "./schema.ts";

const readOrders = "event.orders:read";
const writeSettings = "event.settings.general:write";

const previewing: Access = { kind: "event", anyOf: [readOrders, writeSettings], profiles: [] };
const linting: Access = { kind: "event", anyOf: [writeSettings], profiles: [] };

/** Enough for a page of many elements, or a large picture. */
const mostMs = 20_000;

const unprintable = { description: "The stored background cannot be read, or was replaced meanwhile.", schema: detail };
const undrawable = {
  ...unprintable,
  description: `${unprintable.description} Or the page cannot be drawn as a picture.`,
};

const types = { pdf: "application/pdf", png: "image/png" } as const;

/** Checks layouts that need not be stored: `ticketlayouts/preview/` and `ticketlayouts/lint/`. They change nothing. */
export function layoutDraftRoutes({
  rendering,
  findUploads,
  takeTurn,
}: Pick<Clients, "rendering"> & {
  readonly findUploads: FindUploads;
  /** Takes a turn for an answer that is in memory. */
  readonly takeTurn: TakeTurn;
}) {
  const readDraft = async (request: Incoming, sent: TypeOf<typeof lintBody.schema>): Promise<DraftLayout> => ({
    layout: sent.layout ?? undefined,
    elements: sent.elements,
    background: await findBackground(sent.background, { findUploads, caller: request.tenant }),
    withoutBackground: sent.background === null,
  });

  return {
    preview: declare({
      name: "previewTicketLayout",
      example: layoutDraftExamples.preview,
      summary: "Prints one ticket with a layout that need not be stored",
      description:
        "With `position` it needs `event.orders:read`; without it the ticket is made of sample data. Nothing of it is stored. `X-Tessera-Warnings` says how many things could not be printed as the layout wants them.",
      access: previewing,
      body: previewBody,
      // A ticket admits its holder, so the answer is not kept.
      showsSecret: true,
      produces: Object.values(types),
      answers: {
        ok: { description: "The file.", schema: { type: "string", format: "binary" } },
        invalid,
        conflict: undrawable,
      },
      async handle(request) {
        const { body, tenant, signal } = request;
        const { position, format, dpi, page } = body;
        if (position !== null && !holds(tenant, readOrders)) throw fault("forbidden", notAllowed);
        const draft = await readDraft(request, body);
        const turn = await takeTurn(request, largestRendered);
        const { content, warnings } = await rendering.previewLayout(
          request.inEvent({
            ...{ draft, dpi, page },
            position: position ?? undefined,
            format: format === "png" ? PreviewFormat.PNG : PreviewFormat.PDF,
          }),
          { signal, timeoutMs: mostMs },
        );
        turn.resize(content.byteLength);
        return {
          status: "ok",
          type: types[format],
          body: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
          headers: { ...asAttachment(`preview.${format}`), ...warned(warnings.length) },
        };
      },
    }),

    lint: declare({
      name: "lintTicketLayout",
      example: layoutDraftExamples.lint,
      summary: "Finds what would be wrong with tickets of a layout that need not be stored",
      description:
        "With `event.orders:read` the longest texts and codes among the newest 1000 tickets of the event are tried, without it those of sample data.",
      access: linting,
      body: lintBody,
      answers: {
        ok: { description: "What was found, by element.", schema: findingsShown },
        invalid,
        conflict: unprintable,
      },
      async handle(request) {
        const { tenant, signal } = request;
        const draft = await readDraft(request, request.body);
        const mayReadTickets = holds(tenant, readOrders);
        const { tickets, findings } = await rendering.lintLayout(request.inEvent({ mayReadTickets }, { draft }), {
          signal,
          timeoutMs: mostMs,
        });
        return {
          status: "ok",
          body: {
            tickets,
            findings: findings.map(({ element, code, message }) => ({ element: element + 1, code, message })),
          },
        };
      },
    }),
  };
}
