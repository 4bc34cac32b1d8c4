import { currentContext } from "@tessera/kit/context";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { Turns } from "@tessera/kit/waiting/turns";
import { type HoldCapacityRequest, HoldCapacityResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { isUuid } from "@tessera/values";
import { dependsOnQuotas, findQuotaProblems, findSeatProblems, type Need, type Problem } from "../domain/fit-needs.ts";
import type { Scope } from "../domain/scope.ts";
import { seatKey } from "../domain/seat-key.ts";
import { fault } from "../faults.ts";
import { lockPresent } from "../store/events.ts";
import * as holds from "../store/holds.ts";
import { lockOfHolds, takeLocks } from "../store/locks.ts";
import { findSeatStates } from "../store/seats.ts";
import { toNeed, toNeedProblem } from "../wire/capacity-messages.ts";
import { readRoom } from "./quota-room.ts";

/** The limit of vouchers in one request. */
const mostNeeds = 10_000;

/** A waiting hold occupies a connection. Most connections are left to other requests. */
const mostHolds = 4;

/** The lock timeout. One sale is over by then; behind several ones, a hold fails. */
const longestWaitMs = 3000;

/** Limits concurrent holds, and those of one organizer to half, so that another organizer need not wait for them. */
export function shareHolds(): Turns {
  return new Turns({
    total: mostHolds,
    each: mostHolds / 2,
    waitMs: longestWaitMs,
    busy: () => fault("locked", "other holds of the organizer are under way; try again", { retryAfterMs: 5000 }),
  });
}

/**
 * Holds the capacity that vouchers need, all or nothing. The id of the hold is an idempotency key: a repeated request
 * gets the stored answer. The request id would not do, because a killed caller retries in a new request.
 */
export async function holdCapacity(
  request: HoldCapacityRequest,
  { db, holdTurns }: { db: Db; holdTurns: Turns },
): Promise<HoldCapacityResponse> {
  const { organizer, event, hold: id } = request;
  const scope = { organizer, event };
  const needs = readNeeds(request);
  const { signal } = currentContext();
  return holdTurns.run({ party: organizer, amount: 1, signal }, () =>
    db.transaction((tx) => hold(tx, scope, { id, needs })),
  );
}

async function hold(
  tx: Tx,
  scope: Scope,
  { id, needs }: { readonly id: string; readonly needs: readonly Need[] },
): Promise<HoldCapacityResponse> {
  await takeLocks(tx, [lockOfHolds(scope)]);
  const earlier = await holds.findHold(tx, scope, id);
  if (earlier !== undefined) return answerAgain(earlier);
  const [present] = await lockPresent(tx, [scope]);
  if (present === undefined) throw fault("no_such_event", "this event does not exist");
  const problems = await findProblems(tx, scope, { needs, now: present.now });
  const answer = { problems };
  const encoded = HoldCapacityResponse.encode(answer).finish();
  if (!(await holds.storeAnswer(tx, scope, { id, answer: encoded }))) throw released();
  if (problems.length === 0) await holds.storeHeld(tx, scope, { id, claims: needs });
  return answer;
}

function readNeeds({ organizer, event, hold, needs }: HoldCapacityRequest): Need[] {
  const invalid = (what: string) => fault("invalid_hold", what);
  if (!isUuid(hold)) throw invalid("a hold is named by a UUID");
  if (needs.length > mostNeeds) throw fault("too_many_needs", `hold for ${mostNeeds} vouchers at most`);
  if (new Set(needs.map(({ voucher }) => voucher)).size < needs.length) throw invalid("a voucher is named twice");
  if (needs.some(({ amount }) => amount < 0)) throw invalid("an amount is below zero");
  if ([organizer, event, ...needs.map(({ seat = "" }) => seat)].some((text) => text.includes("\0")))
    throw invalid("a text has a null character");
  return needs.map(toNeed);
}

function answerAgain({ isReleased, answer }: holds.StoredHold): HoldCapacityResponse {
  if (isReleased || answer === null) throw released();
  return HoldCapacityResponse.decode(answer);
}

function released() {
  return fault("hold_released", "this hold was released; ask with the id of another one");
}

interface Question {
  readonly needs: readonly Need[];
  readonly now: number;
}

async function findProblems(tx: Tx, scope: Scope, question: Question): Promise<HoldCapacityResponse["problems"]> {
  const quotaProblems = await checkQuotas(tx, scope, question);
  const seatProblems = await checkSeats(tx, scope, question);
  return question.needs.flatMap((_, place) => {
    const problem = quotaProblems.get(place) ?? seatProblems.get(place);
    return problem === undefined ? [] : [toNeedProblem(place, problem)];
  });
}

async function checkQuotas(tx: Tx, scope: Scope, { needs, now }: Question): Promise<Map<number, Problem>> {
  const depending = needs.filter((need) => dependsOnQuotas(need, now));
  if (!depending.some(({ isChecked }) => isChecked)) return new Map();
  const { match, claims, uses } = await readRoom(tx, scope, depending);
  const own = claims.filter(({ part }) => part === "own");
  return findQuotaProblems(needs, { match, claims: Map.groupBy(own, ({ voucher }) => voucher ?? 0), uses, now });
}

async function checkSeats(tx: Tx, scope: Scope, { needs, now }: Question): Promise<Map<number, Problem>> {
  const wanted = needs.flatMap(({ seat, subevent }) => (seat === null ? [] : [{ guid: seat, subevent }]));
  if (wanted.length === 0) return new Map();
  const distinct = new Map(wanted.map((seat) => [seatKey(seat.guid, seat.subevent), seat]));
  return findSeatProblems(needs, { seats: await findSeatStates(tx, scope, [...distinct.values()]), now });
}
