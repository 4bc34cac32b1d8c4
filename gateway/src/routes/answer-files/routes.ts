import { create } from "content-disposition";
import { scanProfiles } from "../../access/profile.ts";
import { notFound } from "../../answers.ts";
import type { Clients } from "../../clients.ts";
import { declare } from "../../route.ts";
import { fileTypes } from "../../upload/file-type.ts";

/** A file of 10 MiB comes in one message. */
const timeoutMs = 20_000;

/** Answers that are files: `orderpositions/{position}/answer/{question}/`. */
export function answerFileRoutes({ answerFiles }: Pick<Clients, "answerFiles">) {
  return {
    get: declare({
      name: "getAnswerFile",
      summary: "Downloads the file that a ticket answers a question with",
      description: "The `answer` of such an answer is this address.",
      access: { kind: "event", anyOf: ["event.orders:read", "event.orders:checkin"], profiles: scanProfiles },
      produces: fileTypes,
      answers: {
        200: {
          description: "The file, under its name in `Content-Disposition`.",
          schema: { type: "string", format: "binary" },
        },
        404: notFound("There is no such ticket, or it does not answer this question with a file."),
      },
      async handle(request) {
        const { name, contentType, content } = await answerFiles.getAnswerFile(
          {
            organizer: request.organizer,
            event: request.event,
            position: request.id("position"),
            question: request.id("question"),
          },
          { signal: request.signal, timeoutMs },
        );
        const body = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
        // What customers sent is never shown by a browser as a page of this host.
        const headers = {
          "Content-Disposition": create(name),
          "Content-Security-Policy": "default-src 'none'; sandbox",
        };
        return { status: 200, type: contentType, body, headers };
      },
    }),
  };
}
