import { randomUUID } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import type {
  HoldCapacityRequest,
  HoldCapacityResponse,
  NeedProblem,
  VoucherNeed,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Capacity } from "@tessera/protos/services";
import { entityKey, topics } from "@tessera/protos/topics";
import { plainVoucher } from "@tessera/testkit/plain-fields";
import { startForTest } from "@tessera/testkit/start-for-test";
import { boxoffice } from "../index.ts";

/** Instants that no clock of a test passes, in microseconds. */
export const [longAgo, farAway] = [Date.UTC(2001, 0) * 1000, Date.UTC(2200, 0) * 1000];

/** A need for one of item 1, for a new voucher. It is checked if it takes something. */
export function need(voucher: number, rest: Partial<VoucherNeed> = {}): VoucherNeed {
  return { voucher, item: 1, amount: 1, isChecked: rest.amount !== 0, basedOn: 0, ...rest };
}

type FactFields = Partial<VoucherFields> &
  Partial<Pick<VoucherChanged, "organizer" | "event" | "revision" | "changed">>;

/** The state of a voucher that blocks one of item 1. */
export function voucher(
  id: number,
  { redeemed = 0, ...rest }: FactFields & { readonly redeemed?: number } = {},
): VoucherChanged {
  const { organizer = "org", event = "fest", revision = 1, changed = revision, ...fields } = rest;
  return {
    organizer,
    event,
    id,
    revision,
    changed,
    recordedUses: redeemed,
    voucher: {
      id,
      createdAt: 0,
      redeemed,
      budgetUsed: "0.00",
      fields: { ...plainVoucher, code: `CODE${id}`, blockQuota: true, item: 1, ...fields },
    },
  };
}

/** Calls the ledger as voucher does. */
export async function startLedger(db: Db) {
  const service = await startForTest(boxoffice, { db });
  const capacity = service.connect(Capacity);
  return {
    /** Holds under a new id and returns it, or the problems. */
    async hold(
      needs: readonly VoucherNeed[],
      rest: Partial<HoldCapacityRequest> = {},
    ): Promise<string | NeedProblem[]> {
      const hold = rest.hold ?? randomUUID();
      const { problems } = await this.ask({ ...rest, hold, needs: [...needs] });
      return problems.length === 0 ? hold : problems;
    },
    /** Holds what must be free. */
    async mustHold(needs: readonly VoucherNeed[]): Promise<string> {
      const held = await this.hold(needs);
      if (typeof held !== "string") throw new Error(`not held: ${JSON.stringify(held)}`);
      return held;
    },
    ask(request: Partial<HoldCapacityRequest>): Promise<HoldCapacityResponse> {
      return capacity.holdCapacity({ organizer: "org", event: "fest", hold: randomUUID(), needs: [], ...request });
    },
    release: (hold: string, { organizer = "org", event = "fest" } = {}) =>
      capacity.releaseCapacity({ organizer, event, hold }),
    /** Announces states, as voucher does before their facts. */
    announce: (...vouchers: VoucherChanged[]) => capacity.tellVouchers({ vouchers }),
    /** Delivers states of vouchers in one batch; a number is a voucher deleted after all its states. */
    tell: (...facts: readonly (VoucherChanged | number)[]) =>
      service.deliver(
        topics.voucherChanged,
        facts.map((fact) => (typeof fact === "number" ? entityKey("org", "fest", fact) : fact)),
        { deletedAt: 1_000_000 },
      ),
    /** Delivers the deletion of a voucher after its states below a revision. */
    tellDeleted: (id: number, deletedAt: number) =>
      service.deliver(topics.voucherChanged, [entityKey("org", "fest", id)], { deletedAt }),
    sweep: (before: number) => service.sweep(topics.voucherChanged, before),
    runJob: service.runJob,
  };
}
