import { randomUUID } from "node:crypto";
import { currentContext } from "@tessera/kit/context";
import type { ExchangeMedium, Scan, ScanOutcome, SentAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { standsInPublic } from "@tessera/values";
import type { Tenant } from "../../access/caller.ts";
import type { Incoming, Reply } from "../../http/route.ts";
import { readScanType } from "../checkins/scan-type.ts";
import { type Expandable, showsPdfData } from "../listed-positions/expand.ts";
import type { PdfData, ReadPdfData } from "../listed-positions/pdf-data.ts";
import { idsOf } from "../listed-positions/present.ts";
import type { PrintReader, Prints } from "../listed-positions/print.ts";
import { askCheckin, type Send, type SendOptions } from "./ask-checkin.ts";
import { onPublicScreen } from "./on-public-screen.ts";
import { presentOutcome, type RefusedStatus } from "./present.ts";
import { roomOfScans, ScanRoom } from "./scan-room.ts";
import type { ScanBody } from "./schema.ts";
import { type FindUploads, readAnswers } from "./sent-answers.ts";

export interface AnswerOptions {
  readonly readPdfData: ReadPdfData;
  readonly prints: Pick<PrintReader, "read">;
  /** The uploads of a caller among these ids, each kept until boxoffice has its answer. */
  findUploads(ids: readonly string[], caller: Tenant): ReturnType<FindUploads>;
  /** Expires uploads that an admitted scan named, if answers of its event are erased. */
  expireDropped(ids: readonly string[], place: Pick<Scan, "organizer" | "event">): Promise<void>;
}

interface ScanQuery {
  readonly pdf_data: boolean;
  readonly expand: readonly Expandable[];
}

type ScanRequest = Incoming<ScanQuery, ScanBody>;

/** Calls checkin with the answers to questions that the scanner sent. */
type Ask = (answers: SentAnswer[], call: SendOptions) => ReturnType<Send>;

/** Answers scans of all routes, under one limit of unanswered scans. */
export class ScanAnswers {
  readonly #options: AnswerOptions;
  readonly #room = new ScanRoom(roomOfScans);

  constructor(options: AnswerOptions) {
    this.#options = options;
  }

  /** Refuses a scan of a sender with too many unanswered ones, before its body is read. */
  readonly crowd = ({ organizer, tenant }: Pick<Incoming, "organizer" | "tenant">) =>
    this.#room.refuse({ organizer, credential: tenant.countedAs });

  async answer(
    request: ScanRequest,
    { ask, refusedStatus }: { readonly ask: Ask; readonly refusedStatus: RefusedStatus },
  ): Promise<Reply> {
    const { organizer, url, query, tenant, body } = request;
    const { findUploads, expireDropped } = this.#options;
    const answers = await readAnswers(body.answers, (ids) => findUploads(ids, tenant));
    const sender = { organizer, credential: tenant.countedAs };
    const { outcome: decided, explanation } = await this.#room.hold(sender, () =>
      askCheckin(request, (call) => ask(answers, call)),
    );
    const event = decided.list?.event ?? "";
    const uploads = answers.flatMap(({ file }) => file?.upload ?? []);
    // The visitor is admitted even if this fails: the uploads then expire within a day.
    if (uploads.length > 0 && explanation === undefined && decided.outcome?.$case === "admitted")
      await expireDropped(uploads, { organizer, event }).catch(() => {});
    const isPublic = standsInPublic(tenant.profile);
    const outcome = isPublic ? onPublicScreen(decided) : decided;
    const [pdfData, prints] = await Promise.all([
      this.#pdfDataOf(outcome, { request, event }),
      this.#printsOf(outcome, { request, event }),
    ]);
    return presentOutcome(outcome, {
      address: { url, organizer, event },
      names: query.expand,
      pdfData,
      prints,
      force: body.force ?? false,
      refusedStatus,
      // It names the time of the last scan, gates and other lists.
      explanation: isPublic ? undefined : explanation,
    });
  }

  /** A screen in public shows no more of a ticket than `onPublicScreen` allows. */
  async #pdfDataOf(
    { position }: ScanOutcome,
    { request, event }: { readonly request: ScanRequest; readonly event: string },
  ): Promise<PdfData | undefined> {
    const { organizer, url, tenant } = request;
    if (!showsPdfData(request.query, tenant)) return undefined;
    const id = position?.position?.id;
    if (id === undefined || standsInPublic(tenant.profile)) return new Map();
    return this.#options.readPdfData({ organizer, event, url, inEvent: request.ofTenantIn(event) }, [id]);
  }

  /** What was printed is for the staff, too. */
  #printsOf(
    { position }: ScanOutcome,
    { request, event }: { readonly request: ScanRequest; readonly event: string },
  ): Promise<Prints> | Prints {
    const { organizer, url, tenant } = request;
    if (position === undefined || standsInPublic(tenant.profile)) return new Map();
    const place = { organizer, event, url, inEvent: request.ofTenantIn(event) };
    return this.#options.prints.read(place, idsOf([position]));
  }
}

export function saidOf(body: ScanBody, answers: SentAnswer[], nonce = nonceOf(body)) {
  return {
    type: readScanType(body.type),
    at: body.datetime ?? undefined,
    force: body.force ?? false,
    ignoreUnpaid: body.ignore_unpaid ?? false,
    questionsSupported: body.questions_supported ?? true,
    nonce,
    useOrderLocale: body.use_order_locale ?? false,
    sourceType: body.source_type ?? "barcode",
    exchangeMedium: exchangeMediumOf(body),
    answers,
  };
}

/** A medium without a type is of none that a ticket is exchanged for. Blanks are the identifier of none. */
function exchangeMediumOf(body: ScanBody): ExchangeMedium | undefined {
  const { exchange_medium_identifier: identifier, exchange_medium_type: type } = body;
  return identifier?.trim() ? { type: type ?? "", identifier } : undefined;
}

/**
 * Every scan gets a nonce: if the service's answer is lost, the scan is sent again and still stored once. Repetitions
 * under an idempotency key have the same nonce, even if the scanner knows no nonces.
 */
function nonceOf({ nonce }: ScanBody): string {
  return nonce === "" || nonce === undefined || nonce === null ? (currentContext().requestId ?? randomUUID()) : nonce;
}
