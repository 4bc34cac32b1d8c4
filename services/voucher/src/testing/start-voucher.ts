import type { Db } from "@tessera/kit/pg/database";
import { implement } from "@tessera/kit/rpc";
import type {
  HoldCapacityRequest,
  HoldCapacityResponse,
  ReleaseCapacityRequest,
  TellVouchersRequest,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import type { VoucherChanged } from "@tessera/protos/gen/ticketing/voucher/v1/facts";
import type { NewVoucher, Voucher, VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { Capacity, Records, VoucherShop, Vouchers } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { plainVoucher } from "@tessera/testkit/plain-fields";
import { startForTest } from "@tessera/testkit/start-for-test";
import { voucher } from "../index.ts";

export const place = { organizer: "bigevents", event: "sampleconf" } as const;

/** The service on a database, called as its peers call it. */
export type RunningVoucher = Awaited<ReturnType<typeof startVoucher>>;

/** Starts the service on a database; boxoffice grants every hold, unless a test says otherwise. */
export async function startVoucher(db: Db) {
  const ledger = {
    held: [] as HoldCapacityRequest[],
    released: [] as ReleaseCapacityRequest[],
    hold: async (_request: HoldCapacityRequest): Promise<HoldCapacityResponse> => ({ problems: [] }),
    release: async (_request: ReleaseCapacityRequest): Promise<void> => {},
    told: [] as VoucherChanged[],
    tell: async (_request: TellVouchersRequest): Promise<void> => {},
  };
  const capacity = implement(Capacity, {
    async holdCapacity(request) {
      ledger.held.push(request);
      return ledger.hold(request);
    },
    async releaseCapacity(request) {
      await ledger.release(request);
      ledger.released.push(request);
      return {};
    },
    async tellVouchers(request) {
      await ledger.tell(request);
      ledger.told.push(...request.vouchers);
      return {};
    },
  });
  const service = await startForTest(voucher, { db, peers: { boxoffice: [capacity] } });
  const vouchers = service.connect(Vouchers);
  const create = async (...sent: Partial<VoucherFields>[]): Promise<Voucher[]> => {
    const { vouchers: made } = await vouchers.createVouchers({ ...place, vouchers: sent.map(newVoucher) });
    return made;
  };
  return Object.assign(ledger, {
    ...service,
    vouchers,
    records: service.connect(Records),
    shop: service.connect(VoucherShop),
    /** Creates vouchers in one request. */
    create,
    async createOne(fields: Partial<VoucherFields> = {}): Promise<Voucher> {
      const [made] = await create(fields);
      if (made === undefined) throw new Error("no voucher came back");
      return made;
    },
    async update(id: number, fields: Partial<VoucherFields>): Promise<Voucher> {
      const updateMask = Object.keys(fields).map(toSnake);
      const { voucher: changed } = await vouchers.updateVoucher({
        ...place,
        id,
        fields: { ...plainVoucher, ...fields },
        updateMask,
      });
      if (changed === undefined) throw new Error("no voucher came back");
      return changed;
    },
    /** An event with two items, one with variations, a quota of both, and no dates. */
    async prepareEvent({
      hasSubevents = false,
      ...inEvent
    }: {
      readonly hasSubevents?: boolean;
      readonly event?: string;
    } = {}): Promise<void> {
      const there = { ...place, ...inEvent };
      const event = { ...there, revision: 1, name: {}, timezone: "UTC", locale: "en", document: new Uint8Array() };
      await service.deliver(topics.eventChanged, [{ ...event, hasSubevents, ticketDownload: undefined }]);
      const item = { ...there, revision: 1, name: {}, admission: true, position: 0, checkinAttention: false };
      const variation = { value: {}, position: 0, checkinAttention: false };
      await service.deliver(topics.itemChanged, [
        { ...item, id: 1, variations: [], document: new Uint8Array() },
        {
          ...item,
          id: 2,
          variations: [
            { ...variation, id: 21 },
            { ...variation, id: 22 },
          ],
          document: new Uint8Array(),
        },
      ]);
      await service.deliver(topics.quotaChanged, [
        { ...there, id: 9, revision: 1, items: [1, 2], variations: [21, 22], subevent: undefined },
      ]);
      if (hasSubevents) {
        const date = { ...there, id: 5, revision: 1, name: {}, active: true, document: new Uint8Array() };
        await service.deliver(topics.subeventChanged, [date]);
      }
    },
    async reset(): Promise<void> {
      await service.reset();
      ledger.held = [];
      ledger.released = [];
      ledger.hold = async () => ({ problems: [] });
      ledger.release = async () => {};
      ledger.told = [];
      ledger.tell = async () => {};
    },
  });
}

/** A voucher to create, with these fields sent. */
export function newVoucher(fields: Partial<VoucherFields>): NewVoucher {
  return { fields: { ...plainVoucher, ...fields }, sent: Object.keys(fields).map(toSnake) };
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
