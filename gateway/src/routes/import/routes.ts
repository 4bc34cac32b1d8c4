import { Turns } from "@tessera/kit/waiting/turns";
import { unsupported } from "../../body/parse-body.ts";
import { fault } from "../../faults.ts";
import { detail, fieldErrors } from "../../http/answers.ts";
import { count, presence } from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { gunzip } from "../../import/gunzip.ts";
import { ImportFailure, type ImportTargets, importStream } from "../../import/import-stream.ts";
import { limitArrival } from "../../import/limit-arrival.ts";
import { recordShown } from "../../import/record-schema.ts";
import { failureShown, summaryShown } from "../../import/summary.ts";
import { usualErrors } from "../../import/tally.ts";
import { importExample } from "./examples.ts";
import { presentFailure } from "./present.ts";

/** A client that sends nothing for this long has disconnected, or is stuck. */
const idleMs = 60_000;

/** Takes a few tens of megabytes. */
const mostErrors = 100_000;

/** Imports of organizers themselves, at once. Each takes its turn with the owners of records, whatever its length. */
const tenantTurns = { total: 16, each: 2, waitMs: 0 } as const;

function importBusy() {
  return fault(
    "import_busy",
    "Two imports of this organizer are under way. Send this one when one of them has ended.",
    {
      retryAfterMs: 5000,
    },
  );
}

/** Imports records: `/api/v1/import/`. */
export function importRoutes(targets: ImportTargets, stopping: AbortSignal) {
  const turns = new Turns({ ...tenantTurns, busy: importBusy });
  const failed = (description: string) => ({ description, schema: { anyOf: [failureShown, detail] } });

  return {
    importRecords: declare({
      name: "importRecords",
      example: importExample,
      summary: "Brings in events, products, orders, keys and lists as records",
      description:
        "One record per line, each an `ImportRecord`, in a stream of any length, compressed with gzip or not. A record that does not say whom it admits, where and when is rejected; of others what is wrong is left out or taken as sent, with a warning. Sending records again changes nothing. With `validate=true` nothing is stored: the answer says what an import would have said.",
      access: { kind: "records" },
      query: {
        errors: count("How many rejected lines, and how many with warnings, the answer names.", {
          usual: usualErrors,
          most: mostErrors,
        }),
        validate: presence(
          "Checks the records and stores nothing; what a record refers to may come before it in the body. The answer is that of an import, but `settled` is false, and `overbooked` and `ambiguous_secrets` are null.",
        ),
        strict: presence(
          "Answers 400 instead of 200 where a record was rejected, for programs that look at nothing but the status. Nothing else changes: what was accepted is stored.",
        ),
      },
      streams: "application/x-ndjson",
      lines: recordShown,
      answers: {
        ok: { description: "What became of the records.", schema: summaryShown },
        invalid: {
          description:
            "The body is not NDJSON, or its compression is broken, or `errors` is no such number. With `strict=true`: a record was rejected; the answer is that of 200.",
          schema: { anyOf: [summaryShown, failureShown, detail, fieldErrors] },
        },
        tooSlow: failed("Nothing arrived for a minute."),
        tooManyRequests: { description: "Two imports of the organizer of this key are under way.", schema: detail },
        unavailable: failed("A service that owns records stayed unavailable, or the server is being stopped."),
      },
      async handle(request) {
        const { signal, query, caller } = request;
        const sender = caller?.kind === "api_key" ? caller : undefined;
        const options = { signal, mostErrors: query.errors, validate: query.validate, sender };
        const turn = sender && (await turns.take({ party: sender.organizer, amount: 1, signal }));
        try {
          const body = await importStream(contentOf(request, stopping), targets, options);
          return { status: query.strict && body.rejected > 0 ? "invalid" : "ok", body };
        } catch (error) {
          if (error instanceof ImportFailure) return presentFailure(error);
          throw error;
        } finally {
          turn?.end();
        }
      },
    }),
  };
}

function contentOf(request: Incoming, stopping: AbortSignal): AsyncIterable<Uint8Array> {
  const encoding = request.header("Content-Encoding").trim().toLowerCase();
  const arriving = limitArrival(request.stream(), { maxMs: idleMs, stopping });
  if (encoding === "" || encoding === "identity") return arriving;
  if (encoding === "gzip" || encoding === "x-gzip") return gunzip(arriving);
  throw unsupported("Compress the body with gzip or not at all.");
}
