import { randomUUID } from "node:crypto";
import { currentContext } from "@tessera/kit/context";
import { Fault, type FieldErrors } from "@tessera/kit/fault";
import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import type { Scan, ScanAnswer, ScanOnLists, SentAnswer } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { standsInPublic } from "@tessera/values";
import type { Clients } from "../../clients.ts";
import { fault } from "../../faults.ts";
import { httpStatus, toProblem } from "../../http/problem.ts";
import type { Incoming, Reply } from "../../http/route.ts";
import { type Fields, onlyFields, readFields, type Shown } from "../../http/without-fields.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import { type AnswerOptions, saidOf } from "./answer-scan.ts";
import { callCheckin, requireDecision, requireList } from "./ask-checkin.ts";
import { onPublicScreen } from "./on-public-screen.ts";
import { presentOutcome } from "./present.ts";
import { overloaded } from "./scan-room.ts";
import type { RedeemBatch, ScanOfBatch } from "./schema.ts";
import { namedUploads, readAnswers } from "./sent-answers.ts";

export interface BatchOptions extends Pick<AnswerOptions, "findUploads" | "expireDropped"> {
  readonly scans: Pick<Clients["scans"], "redeemMany">;
}

type BatchRequest = Incoming<{ readonly fields: readonly string[] }, RedeemBatch>;

/** What a scan is answered; the status is that of the scan alone. */
type Result = Pick<Reply, "status" | "body">;

/** A scan with the lists that it is to be decided on. */
type ListedScan = ScanOfBatch & { readonly lists: number[] };

/** A scan that is sent to checkin; or the answer to a wrong one. */
type Read = Sent | { readonly wrong: Result };

interface Sent {
  readonly body: ListedScan;
  readonly scan: ScanOnLists;
}

/** A scan that was decided; or the answer to a wrong one. */
type Answered = (Sent & { readonly answer: ScanAnswer }) | { readonly wrong: Result };

/** Longer than checkin begins scans of a batch, and waits for the last ones. */
const batchMs = 12_000;

/** Answers each scan of a batch as it would be answered alone, with the fields that were asked for. */
export async function answerBatch(request: BatchRequest, options: BatchOptions): Promise<Reply> {
  const fields = readFields(request.query.fields);
  const read = await readScans(request, options.findUploads);
  const answers = await ask(request, { read, isSlim: showsIdAlone(fields), ...options });
  const answered = withAnswers(read, answers);
  await expireUploads(answered, { ...options, organizer: request.organizer });
  const results = await mapInSlices(answered, (each) => writeResult(toResult(each, { request, fields })));
  const next = answered.length < read.length ? answered.length : null;
  const body = Buffer.from(`{"results":[${results.join(",")}],"next":${next}}`);
  return { status: "ok", type: "application/json", body };
}

/** Reads every scan, even if others are wrong. */
async function readScans(request: BatchRequest, findUploads: AnswerOptions["findUploads"]): Promise<Read[]> {
  const { body, tenant } = request;
  const named = body.scans.flatMap((each) => (each.ok ? namedUploads(each.value.answers) : []));
  const files = named.length === 0 ? [] : await findUploads([...new Set(named)], tenant);
  const requestId = currentContext().requestId ?? randomUUID();
  const nonces = new Nonces();
  const read: Read[] = [];
  for (const [index, checked] of body.scans.entries()) {
    try {
      if (!checked.ok) throw wrong(checked.errors);
      const { lists: _own, ...said } = checked.value;
      const scan = { ...said, lists: requireLists(checked.value, body) };
      nonces.refuseOther(scan);
      const answers = await readAnswers(scan.answers, async (ids) =>
        files.filter(({ upload }) => ids.includes(upload)),
      );
      const nonce = scan.nonce || `${requestId}/${index}`;
      read.push({ body: scan, scan: toScan(scan, { answers, nonce, request }) });
    } catch (error) {
      read.push({ wrong: toResultOf(error) });
    }
  }
  return read;
}

function toScan(
  scan: ListedScan,
  {
    answers,
    nonce,
    request,
  }: { readonly answers: SentAnswer[]; readonly nonce: string; readonly request: BatchRequest },
): ScanOnLists {
  const { device } = request.tenant;
  return {
    lists: scan.lists,
    scan: request.inAnyEvent<Scan, "list" | "lookup" | "untrustedInput" | "canceledSupported" | "deviceId" | "gate">(
      {
        ...{ list: 0, lookup: scan.secret, untrustedInput: true, canceledSupported: true },
        ...{ deviceId: device?.deviceId, gate: device?.gate ?? undefined },
      },
      saidOf(scan, answers, nonce),
    ),
  };
}

/** Tells scans apart that have one nonce: only one that is sent twice may be repeated. */
class Nonces {
  readonly #said = new Map<string, string>();

  refuseOther(scan: ListedScan): void {
    if (!scan.nonce) return;
    const said = JSON.stringify(scan);
    const before = this.#said.get(scan.nonce) ?? said;
    if (before !== said) throw wrong({ nonce: ["Another scan of this batch has this nonce."] });
    this.#said.set(scan.nonce, said);
  }
}

function requireLists({ lists, simulate }: ScanOfBatch, { lists: usual }: RedeemBatch): number[] {
  if (simulate === true) throw wrong({ simulate: ["A scan of a batch is never simulated."] });
  const known = lists ?? usual;
  if (known === undefined) throw wrong({ lists: ["This field is required, here or beside `scans`."] });
  return known;
}

async function ask(
  request: BatchRequest,
  { read, isSlim, scans }: { readonly read: readonly Read[]; readonly isSlim: boolean } & BatchOptions,
): Promise<readonly ScanAnswer[]> {
  const sent = read.flatMap((each) => ("scan" in each ? [each.scan] : []));
  if (sent.length === 0) return [];
  const { answers } = await callCheckin(request, (signal) =>
    scans.redeemMany(request.inOrganizer({ scans: sent, among: amongEventsOf(request.tenant), isSlim }), {
      ...{ timeoutMs: batchMs, signal },
    }),
  );
  if (answers.length === 0) throw overloaded();
  return answers;
}

/** Puts the answers between those of wrong scans, up to the first scan that was not decided. */
function withAnswers(read: readonly Read[], answers: readonly ScanAnswer[]): Answered[] {
  const answered: Answered[] = [];
  let next = 0;
  for (const each of read) {
    if ("wrong" in each) {
      answered.push(each);
      continue;
    }
    const answer = answers[next];
    if (answer === undefined) break;
    next += 1;
    answered.push({ ...each, answer });
  }
  return answered;
}

function writeResult({ status, body }: Result): string {
  return JSON.stringify({ status: httpStatus[status], body });
}

function toResult(
  answered: Answered,
  { request, fields }: { readonly request: BatchRequest; readonly fields: Fields },
): Result {
  if ("wrong" in answered) return answered.wrong;
  const { body, answer } = answered;
  try {
    if (answer.answer?.$case === "invalidLists") throw wrong({ lists: answer.answer.value.problems });
    const decided = requireDecision(answer.answer?.value);
    requireList(decided);
    const { organizer, url, tenant } = request;
    const reply = presentOutcome(standsInPublic(tenant.profile) ? onPublicScreen(decided) : decided, {
      address: { url, organizer, event: decided.list?.event ?? "" },
      ...{ names: [], pdfData: undefined, prints: new Map(), force: body.force ?? false, refusedStatus: "invalid" },
      onlyId: decided.position === undefined ? answer.position : undefined,
    });
    return { status: reply.status, body: onlyFields(reply.body as Shown, fields) };
  } catch (error) {
    return toResultOf(error);
  }
}

/** What a scan would be answered alone with this fault. A bug fails the whole batch. */
function toResultOf(error: unknown): Result {
  if (!(error instanceof Fault)) throw error;
  const { status, body } = toProblem(error);
  return { status, body };
}

function wrong(fields: FieldErrors): Fault {
  return fault("invalid_body", "the scan is not valid", { fields });
}

/** Whether checkin need not send positions. */
function showsIdAlone(fields: Fields): boolean {
  const ofPosition = fields.get("position");
  return ofPosition?.isWhole !== true && Array.from(ofPosition?.inner.keys() ?? []).every((name) => name === "id");
}

/** Uploads that an admitted scan named expire soon, if answers of its event are erased. Else, and if this fails, within a day. */
async function expireUploads(
  answered: readonly Answered[],
  { expireDropped, organizer }: Pick<BatchOptions, "expireDropped"> & { readonly organizer: string },
): Promise<void> {
  const uploads = answered.flatMap((each) => {
    if ("wrong" in each || each.answer.answer?.$case !== "outcome") return [];
    const { outcome, list } = each.answer.answer.value;
    if (outcome?.$case !== "admitted" || list === undefined) return [];
    const named = each.scan.scan?.answers.flatMap(({ file }) => file?.upload ?? []) ?? [];
    return named.map((upload) => ({ upload, event: list.event }));
  });
  for (const [event, ofEvent] of Map.groupBy(uploads, (each) => each.event)) {
    const ids = ofEvent.map(({ upload }) => upload);
    await expireDropped(ids, { organizer, event }).catch(() => {});
  }
}
