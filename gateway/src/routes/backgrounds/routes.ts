import { Readable } from "node:stream";
import type { Files } from "@tessera/kit/files/files";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { detail, ifNoneMatch, notFound, tagged } from "../../http/answers.ts";
import { neverAPage } from "../../http/attachment.ts";
import { namesTag, readRange } from "../../http/byte-range.ts";
import { downloadTurns } from "../../http/downloads.ts";
import type { PublicUrl } from "../../http/public-url.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { presentUnsatisfiable } from "./present.ts";

/** Each holds a file open until its client has read it. The route is public, so each organizer has a share. */
const usualLimits = { total: 256, each: 64, waitMs: 10_000, longestMs: 120_000 };

/** The content of an address is immutable, but ends with its layout: caches should not keep it for long. */
const cacheControl = "public, max-age=3600";

const ending = ".pdf";

/** The public address of a background, readable without credentials. */
export function backgroundUrl(
  { base }: PublicUrl,
  { organizer, event, name }: { readonly organizer: string; readonly event: string; readonly name: string },
): string {
  const [ofOrganizer, ofEvent] = [organizer, event].map(encodeURIComponent);
  return `${base}/pub/${ofOrganizer}/${ofEvent}/ticketlayouts/${name}${ending}`;
}

/** Backgrounds of layouts: `/pub/{organizer}/{event}/ticketlayouts/{file}`. */
export function backgroundRoutes(
  { layouts, files }: Pick<Clients, "layouts"> & { readonly files: Pick<Files, "get"> },
  limits = usualLimits,
) {
  const takeTurn = downloadTurns(limits);

  return {
    get: declare({
      name: "getTicketLayoutBackground",
      example: { status: "ok", follows: "listTicketLayouts" },
      summary: "Downloads the background of a ticket layout",
      description:
        "`background` of a layout is this address. It cannot be guessed, and it is gone with the background.",
      access: { kind: "public" },
      produces: "application/pdf",
      headers: {
        ...ifNoneMatch,
        Range: { description: "`bytes=first-last`: the part of the file that is wanted.", required: false },
        "If-Range": {
          description: "`ETag` of an earlier answer: a part is sent of the same bytes alone.",
          required: false,
        },
      },
      answers: {
        ok: { description: "The PDF.", schema: { type: "string", format: "binary" }, headers: tagged },
        partialContent: {
          description: "The part that `Range` asks for.",
          schema: { type: "string", format: "binary" },
          headers: { ...tagged, "Content-Range": "Which part of the file it is." },
        },
        notModified: { description: "It is what `If-None-Match` names.", headers: tagged },
        notFound: notFound("There is no such background."),
        rangeNotSatisfiable: { description: "`Range` begins behind the end of the file.", schema: detail },
        unavailable: {
          description: "Too many files are being downloaded; try again after `Retry-After`.",
          schema: detail,
        },
      },
      async handle(request) {
        const { signal } = request;
        const [, background] = /^([0-9a-f]{40})\.pdf$/.exec(request.param("file")) ?? [];
        if (background === undefined) throw missing();
        const found = await layouts.findBackground(request.inEvent({ background }), { signal });
        const tag = `"${found.sha256}"`;
        const lasting = { ETag: tag, "Cache-Control": cacheControl, "Accept-Ranges": "bytes" };
        if (namesTag(request.header("If-None-Match"), tag)) return { status: "notModified", headers: lasting };
        const range = rangeOf(request, { tag, size: found.size });
        if (range === "unsatisfiable") return presentUnsatisfiable(found);
        const [first, last] = range === "whole" ? [0, found.size - 1] : [range.first, range.last];
        const headers = {
          ...lasting,
          "Content-Length": String(last - first + 1),
          ...(range === "whole" ? {} : { "Content-Range": `bytes ${first}-${last}/${found.size}` }),
          "Content-Disposition": 'inline; filename="background.pdf"',
          ...neverAPage,
        };
        const status = range === "whole" ? "ok" : "partialContent";
        if (request.isHead) return { status, headers, type: "application/pdf", body: Readable.from([]) };
        await takeTurn(request, 1);
        const stored = await files.get(found.fileKey, range === "whole" ? undefined : range);
        // The layout may have lost it since.
        if (stored === undefined) throw missing();
        return { status, headers, type: "application/pdf", body: stored.content };
      },
    }),
  };
}

function rangeOf(request: Incoming, { tag, size }: { readonly tag: string; readonly size: number }) {
  const condition = request.header("If-Range");
  return condition === "" || condition === tag ? readRange(request.header("Range"), size) : "whole";
}

function missing() {
  return fault("not_found", "Not found.");
}
