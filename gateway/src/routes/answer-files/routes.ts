import { fileTypes } from "@tessera/sent-files/file-type";
import { staffProfiles } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import { notFound } from "../../http/answers.ts";
import { asAttachment } from "../../http/attachment.ts";
import { downloadTurns } from "../../http/downloads.ts";
import { declare } from "../../http/route.ts";

/** A file fits in one message. */
const largestBytes = 10 * 1024 * 1024;
const timeoutMs = 20_000;

/** Together with the call less than the timeout of common clients and proxies. */
const waitMs = 10_000;

/** A file of 10 MiB takes 84 seconds on a line of 1 Mbit/s. */
const longestMs = 120_000;

/** The memory of files that are being sent, from the request until the client has read them; half for one organizer. */
const leavingBytes = 8 * largestBytes;

/** Answers that are files: `orderpositions/{position}/answer/{question}/`. */
export function answerFileRoutes(
  { answerFiles }: Pick<Clients, "answerFiles">,
  limits: { readonly waitMs: number; readonly longestMs: number } = { waitMs, longestMs },
) {
  const takeTurn = downloadTurns({ total: leavingBytes, each: leavingBytes / 2, ...limits });

  return {
    get: declare({
      name: "getAnswerFile",
      example: { status: "ok", follows: "listListedPositions" },
      summary: "Downloads the file that a ticket answers a question with",
      description: "The `answer` of such an answer is this address.",
      access: { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: staffProfiles },
      produces: fileTypes,
      answers: {
        ok: {
          description: "The file, under its name in `Content-Disposition`.",
          schema: { type: "string", format: "binary" },
        },
        notFound: notFound("There is no such ticket, or it does not answer this question with a file."),
      },
      async handle(request) {
        const turn = await takeTurn(request, largestBytes);
        const { name, contentType, content } = await answerFiles.getAnswerFile(
          request.inEvent({ position: request.id("position"), question: request.id("question") }),
          { signal: request.signal, timeoutMs },
        );
        turn.resize(content.byteLength);
        const body = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
        return { status: "ok", type: contentType, body, headers: asAttachment(name) };
      },
    }),
  };
}
