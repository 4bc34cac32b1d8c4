import { fileTypes, isFileType } from "@tessera/sent-files/file-type";
import { scanProfiles } from "@tessera/values";
import { mediaType, unsupported } from "../../body/parse-body.ts";
import { fault } from "../../faults.ts";
import { detail } from "../../http/answers.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { fileNameOf, fits } from "../../upload/file-name.ts";
import { type UploadTargets, uploadTaker } from "../../upload/take-upload.ts";
import { uploadExample } from "./examples.ts";
import { presentObjection, presentUpload } from "./present.ts";
import { uploadShown } from "./schema.ts";

/** Takes files that later requests refer to: `/api/v1/upload`. */
export function uploadRoutes(targets: UploadTargets) {
  const take = uploadTaker(targets);

  return {
    upload: declare({
      name: "uploadFile",
      example: uploadExample,
      summary: "Takes a file for an answer or a background",
      description: `The body is the file as it is, of one of the types ${fileTypes.join(", ")}; its name stands in \`Content-Disposition: attachment; filename="…"\` and ends as names of that type do. Images are at most 10000 pixels wide and high and have at most 50 million of them; PDFs have at most 100 pages, are not encrypted, hold neither scripts nor other files, and print. What is kept of a file is what was read of it: nothing behind the end of an image, and of a PDF no parts that some readers would not find.`,
      access: { kind: "any", profiles: scanProfiles },
      streams: fileTypes,
      claimsKey: true,
      headers: {
        "Content-Disposition": {
          description: "The name of the file, which ends as its type asks for.",
          required: true,
          example: 'attachment; filename="terms.pdf"',
        },
      },
      answers: {
        created: { description: "The file was taken; its id may be used for 24 hours.", schema: uploadShown },
        invalid: {
          description: "There is no file or no file name, or the file is too large or not acceptable.",
          schema: detail,
        },
        tooSlow: { description: "The file arrived too slowly.", schema: detail },
        unsupportedMediaType: { description: "The body is compressed.", schema: detail },
      },
      async handle(request) {
        const name = fileNameOf(request.header("Content-Disposition"));
        if (name === undefined) {
          throw fault(
            "no_file_name",
            'The request names no file. Send a header like Content-Disposition: attachment; filename="ticket.pdf".',
          );
        }
        const type = mediaType(request.header("Content-Type"));
        if (!isFileType(type)) {
          return presentObjection(`Files of the type "${type}" are not taken. Send one of ${fileTypes.join(", ")}.`);
        }
        if (!fits(name, type)) {
          return presentObjection(
            `A file of the type "${type}" must not be called "${name}": its ending does not fit.`,
          );
        }
        requireUncompressed(request);
        return presentUpload(
          await take({
            caller: request.tenant,
            type,
            name,
            announcedBytes: announcedBytesOf(request),
            content: request.stream(),
            claimKey: request.claimKey,
            signal: request.signal,
          }),
        );
      },
    }),
  };
}

function requireUncompressed(request: Incoming): void {
  const encoding = request.header("Content-Encoding").trim().toLowerCase();
  if (encoding !== "" && encoding !== "identity") throw unsupported("The body must not be compressed here.");
}

/** The announced size; the server has checked that a length is a number. */
function announcedBytesOf(request: Incoming): number | undefined {
  if (request.header("Transfer-Encoding") !== "") return undefined;
  return Number(request.header("Content-Length") || "0");
}
