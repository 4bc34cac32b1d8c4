import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { scanProfiles, standsInPublic } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { detail, fieldErrors, invalid } from "../../http/answers.ts";
import { fieldNames, presence } from "../../http/parameter.ts";
import { declare } from "../../http/route.ts";
import type { Placed } from "../../placed.ts";
import { amongEventsOf } from "../catalogue/among.ts";
import { listRequirer } from "../checkin-lists/require-list.ts";
import { expansion, printing, toExpand } from "../listed-positions/expand.ts";
import { answerBatch } from "./answer-batch.ts";
import { type AnswerOptions, ScanAnswers, saidOf } from "./answer-scan.ts";
import { requireList, type Send } from "./ask-checkin.ts";
import { redeemBatchExample, redeemExample, redeemOnListsExample, refusedExample, unknownExample } from "./examples.ts";
import type { RefusedStatus } from "./present.ts";
import { roomOfBatches, ScanRoom } from "./scan-room.ts";
import {
  admittedShown,
  batchShown,
  exchangeShown,
  incompleteShown,
  redeemBatchBody,
  redeemBody,
  redeemOnListsBody,
  refusedShown,
  scannedShown,
  unknownShown,
} from "./schema.ts";

export interface RedeemOptions extends AnswerOptions {
  readonly checkinLists: Clients["checkinLists"];
  readonly scans: Clients["scans"];
  readonly refusedStatus: RefusedStatus;
}

const scanning = {
  anyOf: ["event.orders:write", "event.orders:checkin"],
  profiles: scanProfiles,
} as const satisfies Partial<Access>;

const query = { expand: expansion(), pdf_data: printing() };

const admitted = { description: "Admitted; the scan is stored.", schema: admittedShown };
const notYet = `Questions have to be answered first, the ticket has to be exchanged for a medium, or a refusal of a forced scan. ${invalid.description}`;

/** Scans on a list, and on several lists of an organizer. */
export function redeemRoutes(options: RedeemOptions) {
  const { checkinLists, scans, refusedStatus } = options;
  const exists = listRequirer(checkinLists);
  const answers = new ScanAnswers(options);
  const batches = new ScanRoom(roomOfBatches);

  return {
    redeem: declare({
      name: "redeemListedPosition",
      example: redeemExample,
      summary: "Checks a ticket in or out",
      description:
        "`lookup` is a ticket secret or, where the input is trusted, a position id. It may hold any characters.",
      access: { kind: "event", ...scanning },
      query: {
        untrusted_input: presence("Never reads `lookup` as an id; for what a scanner or a person typed."),
        ...query,
      },
      body: redeemBody,
      answers: {
        ok: {
          description: "Refused: `reason` says why. 201 is admitted.",
          schema: scannedShown,
          example: refusedExample,
        },
        created: { ...admitted, schema: scannedShown },
        invalid: {
          description: notYet,
          schema: { anyOf: [incompleteShown, exchangeShown, refusedShown, fieldErrors] },
        },
        notFound: {
          description: "No ticket has this code, or there is no such list.",
          schema: { anyOf: [unknownShown, detail] },
          example: unknownExample,
        },
      },
      exists,
      crowd: answers.crowd,
      handle(request) {
        const { body, tenant, query: asked } = request;
        const untrustedInput =
          asked.untrusted_input || isScanner(tenant.device?.softwareBrand ?? "") || standsInPublic(tenant.profile);
        return answers.answer(request, {
          refusedStatus,
          ask(sent, call) {
            const scan: Placed<Scan> = request.inEvent(
              {
                ...{ list: request.id("list"), lookup: request.param("lookup"), untrustedInput },
                ...{ deviceId: tenant.device?.deviceId, gate: tenant.device?.gate ?? undefined },
                expand: toExpand(asked.expand),
              },
              { ...saidOf(body, sent), canceledSupported: body.canceled_supported ?? false },
            );
            return body.simulate === true
              ? scans.simulateScan({ scan, lists: [] }, call)
              : scans.redeem({ scan }, call);
          },
        });
      },
    }),

    redeemOnLists: declare({
      name: "redeemOnLists",
      example: redeemOnListsExample,
      summary: "Checks a ticket in or out on the list of its event",
      description:
        "For scanners of several events: each of `lists` is of another event, and the one whose event has the ticket decides.",
      access: { kind: "member", ...scanning },
      query,
      body: redeemOnListsBody,
      answers: {
        created: admitted,
        invalid: {
          description: `Refused, or questions have to be answered or the ticket has to be exchanged for a medium first. ${invalid.description}`,
          schema: { anyOf: [refusedShown, incompleteShown, exchangeShown, fieldErrors] },
          example: refusedExample,
        },
        notFound: { description: "No ticket has this code.", schema: unknownShown, example: unknownExample },
      },
      crowd: answers.crowd,
      handle(request) {
        const { body, tenant, query: asked } = request;
        const { secret: lookup } = body;
        const lists = { lists: [...body.lists], among: amongEventsOf(tenant) };
        return answers.answer(request, {
          refusedStatus: "invalid",
          ask(sent, call) {
            const scan: Placed<Scan> = request.inAnyEvent(
              {
                ...{ list: 0, lookup, untrustedInput: true, canceledSupported: true },
                ...{ deviceId: tenant.device?.deviceId, gate: tenant.device?.gate ?? undefined },
                expand: toExpand(asked.expand),
              },
              saidOf(body, sent),
            );
            const answering: ReturnType<Send> =
              body.simulate === true
                ? scans.simulateScan({ scan, ...lists }, call)
                : scans.redeemOnLists({ scan, ...lists }, call);
            return answering.then((answer) => {
              requireList(answer.outcome);
              return answer;
            });
          },
        });
      },
    }),
    redeemBatch: declare({
      name: "redeemBatch",
      example: redeemBatchExample,
      summary: "Checks many tickets in or out",
      description:
        "For scans that were made without a network. Each is decided and answered as `checkinrpc/redeem/` would, in order, and wrong ones fail alone.",
      access: { kind: "member", ...scanning },
      query: {
        fields: fieldNames("Fields of the answers that are shown; more of `position` than its id takes longer.", [
          ...(["status", "reason", "reason_explanation", "list", "position.id"] as const),
        ]),
      },
      body: redeemBatchBody,
      answers: {
        ok: {
          description: "The answer to each scan; where `next` is set, the scans from there on are sent again.",
          schema: batchShown,
        },
        invalid,
      },
      crowd: ({ organizer, tenant }) => batches.refuse({ organizer, credential: tenant.countedAs }),
      handle: (request) =>
        batches.hold({ organizer: request.organizer, credential: request.tenant.countedAs }, () =>
          answerBatch(request, options),
        ),
    }),
  };
}

/** Scanner software forwards what it scanned: its input is not trusted, whatever the query says. */
function isScanner(softwareBrand: string): boolean {
  return softwareBrand.toLowerCase().includes("pretixscan");
}
