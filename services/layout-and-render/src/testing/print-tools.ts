import { systemClock } from "@tessera/kit/clock";
import { Fault } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { shareReads } from "@tessera/kit/pg/reads";
import { Formats } from "../domain/formats/formats.ts";
import type { PrintTools } from "../printing/printing.ts";
import type { TestRenderer } from "./renderer.ts";
import { allTickets, noScans } from "./ticket-answer.ts";

interface Own {
  readonly db: Db;
  readonly files: Files;
  readonly renderer: TestRenderer;
}

/** What printing needs: every ticket exists, was not scanned, and has no file. */
export function printTools({ db, files, renderer }: Own): PrintTools {
  return {
    reads: shareReads(db),
    files,
    clock: systemClock,
    ticketData: allTickets,
    firstEntries: noScans,
    answerFiles: {
      getAnswerFile: () => Promise.reject(new Fault("not_found", "answer_not_found", "none")),
      getAnswerFiles: async ({ answers }) => ({ files: answers.map(() => ({ file: undefined })) }),
    },
    renderer: renderer.tools,
    formats: new Formats(),
    issuer: "https://tickets.example",
  };
}
