import { shareAnswers } from "@tessera/kit/waiting/share-answers";
import type { GetCertificateKeyResponse } from "@tessera/protos/gen/ticketing/shredder/v1/shreds";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { isShredder, shredders } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import { shortenId } from "../../access/shorten-id.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { notFound } from "../../http/answers.ts";
import { fileShown } from "../../http/attachment.ts";
import type { ReplyStored } from "../../http/downloads.ts";
import { eventUrl } from "../../http/event-url.ts";
import { pageOf } from "../../http/paging.ts";
import { declare, type Incoming } from "../../http/route.ts";
import { replyUnfinished, unfinishedAnswers } from "../unfinished-jobs/present.ts";
import { shredderExamples } from "./examples.ts";
import { kindsByName } from "./kinds-by-name.ts";
import { presentCertificate, presentStatus } from "./present.ts";
import {
  certificateKeyShown,
  certificateShown,
  exportBody,
  exportStarted,
  notReady,
  shredderShown,
  shredEnded,
  shredFailed,
  shredGone,
  shredStarted,
} from "./schema.ts";

export interface ShredderTargets {
  readonly shredders: Clients["shredders"];
  readonly replyStored: ReplyStored;
}

const shredding: Access = { kind: "event", anyOf: ["event.orders:write"], profiles: [] };

/** The key changes at most with a restored database. Anyone may request it at any rate, even during an outage. */
const keyShared = { keptMs: 60_000, longestMs: 10_000, most: 1 };

const zip = "application/zip";
const root = "shredders";

const missing = notFound("There is no such export, or it has expired.");

const certified = {
  ok: { description: "The certificate.", schema: certificateShown },
  notFound: notFound(
    "There is no such erasure, or it has not succeeded. Its id is the first one in the address of its status.",
  ),
};

/** The erasure of personal data: `shredders/` and below. */
export function shredderRoutes({ shredders: service, replyStored }: ShredderTargets) {
  const exportOf = (request: Incoming) => ({
    credential: request.tenant.countedAs,
    export: request.uuid("export"),
    file: request.uuid("file"),
  });
  const share = shareAnswers<GetCertificateKeyResponse>(keyShared);

  return {
    list: declare({
      name: "listShredders",
      example: shredderExamples.list,
      summary: "Lists the kinds of personal data that can be erased",
      access: shredding,
      answers: { ok: { description: "All of them, on one page.", schema: pageOf(shredderShown) } },
      handle: async () => ({
        status: "ok",
        body: { count: kindsByName.length, next: null, previous: null, results: kindsByName },
      }),
    }),

    get: declare({
      name: "getShredder",
      example: shredderExamples.get,
      summary: "Shows a kind of personal data that can be erased",
      access: shredding,
      answers: {
        ok: { description: "The kind.", schema: shredderShown },
        notFound: notFound("There is no such kind."),
      },
      async handle(request) {
        const identifier = request.param("identifier");
        if (!isShredder(identifier)) throw fault("not_found", "There is no such shredder.");
        return { status: "ok", body: { identifier, verbose_name: shredders[identifier] } };
      },
    }),

    export: declare({
      name: "exportPersonalData",
      example: shredderExamples.export,
      summary: "Exports personal data of an event that is over",
      description: "Nothing is erased without an export. It can be downloaded for two hours.",
      access: shredding,
      body: exportBody,
      answers: { accepted: { description: "The export was started.", schema: exportStarted }, invalid: notReady },
      async handle(request) {
        const made = await service.startExport(
          request.inEvent(
            { credential: request.tenant.countedAs, instance: request.url.base },
            { shredders: [...request.body.shredders] },
          ),
        );
        const download = eventUrl(request, root, "download", made.export, made.file);
        return {
          status: "accepted",
          body: { download, shred: eventUrl(request, root, "shred", made.export, made.file) },
        };
      },
    }),

    download: declare({
      name: "downloadPersonalData",
      example: shredderExamples.download,
      summary: "Downloads an export of personal data",
      access: shredding,
      produces: zip,
      answers: { ok: fileShown, notFound: missing, ...unfinishedAnswers },
      async handle(request) {
        const found = await service.findExport(request.inEvent(exportOf(request)), { signal: request.signal });
        if (found.state !== JobState.SUCCEEDED) return replyUnfinished(found);
        return replyStored(request, { key: found.fileKey, name: `${request.event}.zip`, type: zip });
      },
    }),

    shred: declare({
      name: "shredPersonalData",
      example: shredderExamples.shred,
      summary: "Erases the personal data that was exported",
      description:
        "It is erased everywhere, and there is no way back. Any change of the event since the export prevents it.",
      access: shredding,
      answers: {
        accepted: { description: "The erasure was started.", schema: shredStarted },
        invalid: notReady,
        notFound: missing,
        ...unfinishedAnswers,
      },
      async handle(request) {
        const {
          exportState,
          message,
          case: id,
          file,
        } = await service.startShred(
          request.inEvent({
            ...exportOf(request),
            requestedBy: `${request.tenant.kind}:${shortenId(request.tenant.id)}`,
          }),
        );
        if (exportState !== JobState.SUCCEEDED) return replyUnfinished({ state: exportState, message });
        return { status: "accepted", body: { status: eventUrl(request, root, "status", id, file) } };
      },
    }),

    status: declare({
      name: "getShredStatus",
      example: shredderExamples.status,
      summary: "Says how an erasure ended",
      access: shredding,
      answers: {
        ok: { description: "Everything is erased.", schema: shredEnded },
        notFound: notFound("There is no such erasure."),
        conflict: unfinishedAnswers.conflict,
        gone: shredGone,
        expectationFailed: shredFailed,
      },
      async handle(request) {
        const { tenant, signal } = request;
        const asked = { credential: tenant.countedAs, case: request.uuid("case"), file: request.uuid("file") };
        return presentStatus(await service.findShred(request.inEvent(asked), { signal }));
      },
    }),

    certificate: declare({
      name: "getErasureCertificate",
      example: shredderExamples.certificate,
      summary: "Certifies an erasure",
      description: "`case` is the first id of the address of its status. The certificate is kept for ever.",
      access: shredding,
      answers: certified,
      async handle(request) {
        const { signal } = request;
        const found = await service.getCertificate(request.inEvent({ case: request.uuid("case") }), { signal });
        return { status: "ok", body: presentCertificate(found) };
      },
    }),

    certificateOfOrganizer: declare({
      name: "getErasureCertificateOfOrganizer",
      example: shredderExamples.certificateOfOrganizer,
      summary: "Certifies an erasure in any event of an organizer",
      description: "Certificates outlive their events: here are also those of events that were deleted.",
      access: { kind: "operator" },
      answers: certified,
      async handle(request) {
        const { signal } = request;
        const found = await service.getCertificate(request.inAnyEvent({ case: request.uuid("case") }), { signal });
        return { status: "ok", body: presentCertificate(found) };
      },
    }),

    certificateKey: declare({
      name: "getErasureCertificateKey",
      example: shredderExamples.certificateKey,
      summary: "Shows the public key of certificates",
      description:
        "A certificate proves something if its key is this one. `tessera doctor --certificate FILE --key FILE` compares them.",
      access: { kind: "public" },
      answers: { ok: { description: "The key.", schema: certificateKeyShown } },
      async handle() {
        const { publicKey } = await share("key", () => service.getCertificateKey({}));
        return { status: "ok", body: { public_key: publicKey } };
      },
    }),
  };
}
