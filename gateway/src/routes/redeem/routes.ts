import { randomUUID } from "node:crypto";
import { currentContext } from "@tessera/kit/context";
import type { Fault } from "@tessera/kit/fault";
import type { Scan, ScanOutcome, SentAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { scanProfiles, standsInPublic } from "@tessera/values";
import type { Tenant } from "../../access/caller.ts";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { detail, fieldErrors, invalid } from "../../http/answers.ts";
import { presence } from "../../http/parameter.ts";
import { declare, type Incoming } from "../../http/route.ts";
import type { Placed } from "../../placed.ts";
import { listRequirer } from "../checkin-lists/require-list.ts";
import { readScanType } from "../checkins/scan-type.ts";
import { type Expandable, expansion, printing, showsPdfData, toExpand } from "../listed-positions/expand.ts";
import type { PdfData, ReadPdfData } from "../listed-positions/pdf-data.ts";
import { type FindUploads, readAnswers } from "./answers.ts";
import { askCheckin } from "./ask-checkin.ts";
import { redeemExample, refusedExample, unknownExample } from "./examples.ts";
import { onPublicScreen } from "./on-public-screen.ts";
import { presentOutcome, type RefusedStatus } from "./present.ts";
import { ScanRoom } from "./scan-room.ts";
import { admittedShown, incompleteShown, type RedeemBody, redeemBody, refusedShown, unknownShown } from "./schema.ts";

export interface RedeemOptions {
  readonly checkinLists: Clients["checkinLists"];
  readonly scans: Clients["scans"];
  readonly refusedStatus: RefusedStatus;
  readonly readPdfData: ReadPdfData;
  /** The uploads of a caller among these ids, each kept until boxoffice has its answer. */
  findUploads(ids: readonly string[], caller: Tenant): ReturnType<FindUploads>;
  /** Expires uploads that an admitted scan named, if answers of its event are erased. */
  expireDropped(ids: readonly string[], place: Pick<Scan, "organizer" | "event">): Promise<void>;
}

/** Scans on a list: `checkinlists/{list}/positions/{lookup}/redeem/`. */
export function redeemRoutes(options: RedeemOptions) {
  const { checkinLists, scans, refusedStatus, readPdfData, findUploads, expireDropped } = options;
  const exists = listRequirer(checkinLists);
  const room = new ScanRoom();

  /** A screen in public shows no more of a ticket than `onPublicScreen` allows. */
  async function pdfDataOf(
    { position }: ScanOutcome,
    request: Incoming<RedeemQuery, RedeemBody>,
  ): Promise<PdfData | undefined> {
    if (!showsPdfData(request.query, request.tenant)) return undefined;
    const id = position?.position?.id;
    return id === undefined || standsInPublic(request.tenant.profile) ? new Map() : readPdfData(request, [id]);
  }

  return {
    redeem: declare({
      name: "redeemListedPosition",
      example: redeemExample,
      summary: "Checks a ticket in or out",
      description:
        "`lookup` is a ticket secret or, where the input is trusted, a position id. It may hold any characters.",
      access: {
        kind: "event",
        anyOf: ["event.orders:write", "event.orders:checkin"],
        profiles: scanProfiles,
      },
      query: {
        untrusted_input: presence("Never reads `lookup` as an id; for what a scanner or a person typed."),
        expand: expansion(),
        pdf_data: printing(),
      },
      body: redeemBody,
      answers: {
        200: { description: "Refused.", schema: refusedShown, example: refusedExample },
        201: { description: "Admitted; the scan is stored.", schema: admittedShown },
        400: {
          description: `Questions have to be answered first, or a refusal of a forced scan. ${invalid.description}`,
          schema: { anyOf: [incompleteShown, refusedShown, fieldErrors] },
        },
        404: {
          description: "No ticket has this code, or there is no such list.",
          schema: { anyOf: [unknownShown, detail] },
          example: unknownExample,
        },
      },
      exists,
      crowd: ({ organizer, tenant }) => room.refuse({ organizer, credential: tenant.countedAs }),
      async handle(request) {
        const { organizer, event, url, query, tenant } = request;
        if (request.body.simulate === true) {
          await exists(request);
          throw notSimulated();
        }
        const answers = await readAnswers(request.body.answers, (ids) => findUploads(ids, tenant));
        const decided = await room.hold({ organizer, credential: tenant.countedAs }, () =>
          askCheckin(scans.redeem, { scan: toScan(request, answers), request }),
        );
        const uploads = answers.flatMap(({ file }) => file?.upload ?? []);
        // The visitor is admitted even if this fails: the uploads then expire within a day.
        if (uploads.length > 0 && decided.outcome?.$case === "admitted")
          await expireDropped(uploads, { organizer, event }).catch(() => {});
        const outcome = standsInPublic(tenant.profile) ? onPublicScreen(decided) : decided;
        const address = { base: url.base, organizer, event };
        const pdfData = await pdfDataOf(outcome, request);
        return presentOutcome(outcome, {
          address,
          names: query.expand,
          pdfData,
          force: request.body.force ?? false,
          refusedStatus,
        });
      },
    }),
  };
}

interface RedeemQuery {
  readonly untrusted_input: boolean;
  readonly pdf_data: boolean;
  readonly expand: readonly Expandable[];
}

function toScan(request: Incoming<RedeemQuery, RedeemBody>, answers: SentAnswer[]): Placed<Scan> {
  const { body, query, tenant } = request;
  return request.inEvent(
    {
      list: request.id("list"),
      lookup: request.param("lookup"),
      untrustedInput:
        query.untrusted_input || isScanner(tenant.device?.softwareBrand ?? "") || standsInPublic(tenant.profile),
      deviceId: tenant.device?.deviceId,
      gate: tenant.device?.gate ?? undefined,
      sourceType: "barcode",
      expand: toExpand(query.expand),
    },
    {
      type: readScanType(body.type),
      at: body.datetime ?? undefined,
      force: body.force ?? false,
      ignoreUnpaid: body.ignore_unpaid ?? false,
      canceledSupported: body.canceled_supported ?? false,
      questionsSupported: body.questions_supported ?? true,
      nonce: nonceOf(body),
      answers,
    },
  );
}

/**
 * Every scan gets a nonce: if the service's answer is lost, the scan is sent again and still stored once. Repetitions
 * under an idempotency key have the same nonce, even if the scanner knows no nonces.
 */
function nonceOf({ nonce }: RedeemBody): string {
  return nonce === "" || nonce === undefined || nonce === null ? (currentContext().requestId ?? randomUUID()) : nonce;
}

function notSimulated(): Fault {
  const message = "Scans cannot be simulated: this would admit. Leave the field out.";
  return fault("simulation_not_supported", message, { fields: { simulate: [message] } });
}

/** Scanner software forwards what it scanned: its input is not trusted, whatever the query says. */
function isScanner(softwareBrand: string): boolean {
  return softwareBrand.toLowerCase().includes("pretixscan");
}
