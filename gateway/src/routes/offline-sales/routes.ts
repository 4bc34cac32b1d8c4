import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { conflict, invalid, notFound } from "../../http/answers.ts";
import { fileShown, pdf, warnsOfPrints } from "../../http/attachment.ts";
import type { ReplyStored } from "../../http/downloads.ts";
import { eventUrl } from "../../http/event-url.ts";
import { declareList } from "../../http/list-route.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { replyUnfinished, unfinishedAnswers } from "../unfinished-jobs/present.ts";
import { offlineSalesExamples } from "./examples.ts";
import { presentBatch, presentCanceled, presentListed, type SentBatch, toNewBatch } from "./present.ts";
import {
  batchBody,
  batchListed,
  batchShown,
  cancelBody,
  renderingShown,
  scannedShown,
  startedShown,
} from "./schema.ts";

export interface OfflineSalesTargets {
  readonly offlineSales: Clients["offlineSales"];
  readonly replyStored: ReplyStored;
}

const reading: Access = { kind: "event", anyOf: ["event.orders:read"], profiles: [] };

const writing: Access = { kind: "event", anyOf: ["event.orders:write"], profiles: [] };

/** Enough to cancel ten thousand orders, or to look them up. Common clients and proxies wait this long. */
const batchMs = 20_000;

const root = "offlinesalesbatches";

const shown = (description: string) => ({ description, schema: batchShown });
const missing = notFound("The event has no such batch.");

/** Batches of tickets that are sold elsewhere: `offlinesalesbatches/` and below. */
export function offlineSalesRoutes({ offlineSales, replyStored }: OfflineSalesTargets) {
  const create = (request: Incoming<unknown, SentBatch>) =>
    offlineSales.createBatch(request.inEvent({}, toNewBatch(request.body)));

  return {
    list: declareList({
      name: "listOfflineSalesBatches",
      example: offlineSalesExamples.list,
      summary: "Lists the batches of tickets that are sold elsewhere",
      access: reading,
      page: "One page of batches, without their orders.",
      shows: batchListed,
      async find(request, page) {
        const found = await offlineSales.listBatches(request.inEvent(page), { signal: request.signal });
        return { ...found, results: found.batches.map(presentListed) };
      },
    }),

    get: declare({
      name: "getOfflineSalesBatch",
      example: offlineSalesExamples.get,
      summary: "Shows a batch of tickets that are sold elsewhere",
      access: reading,
      answers: { ok: shown("The batch."), notFound: missing },
      async handle(request) {
        const { signal } = request;
        const { batch } = await offlineSales.getBatch(request.inEvent({ id: request.id("id") }), { signal });
        return { status: "ok", body: presentBatch(batch) };
      },
    }),

    create: declare({
      name: "createOfflineSalesBatch",
      example: offlineSalesExamples.create,
      summary: "Creates a batch of tickets that are sold elsewhere",
      description: "Each ticket is a paid order of its own. All of them are made, or none.",
      access: writing,
      body: batchBody,
      answers: { accepted: { description: "The job was started.", schema: startedShown }, invalid, conflict },
      async handle(request) {
        const { job } = await create(request);
        return { status: "accepted", body: { check: eventUrl(request, root, "check", job) } };
      },
    }),

    check: declare({
      name: "checkOfflineSalesBatch",
      example: offlineSalesExamples.check,
      summary: "Shows a batch once it is made",
      description: "When it is shown, gates admit its tickets.",
      access: reading,
      answers: {
        ok: shown("The new batch."),
        notFound: notFound("There is no such job, or it has expired."),
        ...unfinishedAnswers,
      },
      async handle(request) {
        const job = request.uuid("job");
        const found = await offlineSales.findCreation(request.inEvent({ job }), { signal: request.signal });
        if (found.state !== JobState.SUCCEEDED) return replyUnfinished(found);
        return { status: "ok", body: presentBatch(found.batch) };
      },
    }),

    render: declare({
      name: "renderOfflineSalesBatch",
      example: offlineSalesExamples.render,
      summary: "Renders the tickets of a batch into one file",
      description: "The tickets are in the order of `orders`. The file can be downloaded for 24 hours.",
      access: writing,
      answers: {
        accepted: { description: "The job was started.", schema: renderingShown },
        invalid,
        notFound: missing,
        conflict,
      },
      async handle(request) {
        const id = request.id("id");
        const { job, file } = await offlineSales.renderBatch(request.inEvent({ id }), { timeoutMs: batchMs });
        return { status: "accepted", body: { download: eventUrl(request, root, id, "download", job, file) } };
      },
    }),

    download: declare({
      name: "downloadOfflineSalesBatch",
      example: offlineSalesExamples.download,
      summary: "Downloads the file of the tickets of a batch",
      description: warnsOfPrints,
      access: reading,
      produces: pdf,
      answers: { ok: fileShown, notFound: notFound("There is no such file, or it has expired."), ...unfinishedAnswers },
      async handle(request) {
        const found = await offlineSales.findRendering(
          request.inEvent({ id: request.id("id"), job: request.uuid("job"), file: request.uuid("file") }),
          { signal: request.signal },
        );
        if (found.state !== JobState.SUCCEEDED) return replyUnfinished(found);
        return replyStored(request, { key: found.fileKey, name: "tickets.pdf", warnings: found.warnings });
      },
    }),

    cancel: declare({
      name: "cancelOfflineSalesBatch",
      example: offlineSalesExamples.cancel,
      summary: "Cancels all orders of a batch",
      description: "They give back their quota, and gates refuse their tickets. A repetition changes nothing.",
      access: writing,
      body: cancelBody,
      answers: { ok: shown("The batch."), invalid: scannedShown, notFound: missing, conflict },
      async exists(request) {
        await offlineSales.getBatch(request.inEvent({ id: request.id("id") }), { signal: request.signal });
      },
      async handle(request) {
        const { force } = request.body;
        const canceled = await offlineSales.cancelBatch(request.inEvent({ id: request.id("id") }, { force }), {
          timeoutMs: batchMs,
        });
        return presentCanceled(canceled);
      },
    }),
  };
}
