import { Fault } from "@tessera/kit/fault";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Db } from "@tessera/kit/pg/database";
import { implement } from "@tessera/kit/rpc";
import type {
  CancelSaleRequest,
  SellTicketsRequest,
  SellTicketsResponse,
  SoldTicket,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import type { FindBatchResponse, StartBatchRequest } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { CreateBatchRequest, OfflineBatch } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { JobState } from "@tessera/protos/gen/ticketing/type/v1/job";
import { Facts, Layouts, OfflineSales, Rendering, Sales, ScanHistory } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { finishWork } from "@tessera/testkit/finish-work";
import { implementSome } from "@tessera/testkit/implement-some";
import { startForTest } from "@tessera/testkit/start-for-test";
import { offlineSales } from "../index.ts";
import { makeBatch, makingId } from "../make-work.ts";

export const place = { organizer: "bigevents", event: "sampleconf" } as const;

/** Five tickets of item 1, with layout 7. */
export const wanted: CreateBatchRequest = {
  ...place,
  testmode: false,
  salesChannel: "web",
  layout: 7,
  item: 1,
  amount: 5,
  comment: "for the harbour office",
};

/** Starts the service on a database. Its peers are fakes that do what a test says; boxoffice sells each sale once. */
export async function startOfflineSales(db: Db) {
  const peers = {
    sold: new Map<string, readonly SoldTicket[]>(),
    asked: [] as SellTicketsRequest[],
    canceled: [] as CancelSaleRequest[],
    rendered: [] as StartBatchRequest[],
    scanned: new Set<number>(),
    layouts: new Set([7]),
    isCaughtUp: true,
    /** What a sale answers instead. */
    sell: undefined as ((request: SellTicketsRequest) => Promise<SellTicketsResponse>) | undefined,
    startRendering: async () => ({
      job: "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1",
      file: "1c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f2",
    }),
    findRendering: async (): Promise<FindBatchResponse> => ({
      ...{ state: JobState.RUNNING, done: 2, total: 5, message: "", fileKey: "", size: 0, warnings: [], leftOut: [] },
    }),
  };
  const marked = { marker: "0c7ae55b-3b0c-4f0e-8e0f-3a52a5d0f8f1", partitions: [] };
  const facts = implement(Facts, {
    markFacts: async () => marked,
    caughtUp: async () => ({ caughtUp: peers.isCaughtUp }),
  });
  const sales = implement(Sales, {
    async sellTickets(request) {
      peers.asked.push(request);
      if (peers.sell !== undefined) return peers.sell(request);
      return { problems: [], tickets: request.onlyCheck ? [] : [...sellOnce(request)] };
    },
    async cancelSale(request) {
      const wasCanceled = peers.canceled.some(({ sale }) => sale === request.sale);
      peers.canceled.push(request);
      return { canceled: wasCanceled ? 0 : (peers.sold.get(request.sale)?.length ?? 0) };
    },
  });
  const sellOnce = ({ sale, amount }: SellTicketsRequest): readonly SoldTicket[] => {
    const first = [...peers.sold.values()].flat().length + 1;
    const numbers = Array.from({ length: amount }, (_, index) => first + index);
    const tickets = peers.sold.get(sale) ?? numbers.map((number) => ({ order: `CODE${number}`, position: number }));
    peers.sold.set(sale, tickets);
    return tickets;
  };
  const scanHistory = implementSome(ScanHistory, {
    findScanned: async ({ positions }) => ({ positions: positions.filter((position) => peers.scanned.has(position)) }),
  });
  const layouts = implementSome(Layouts, {
    async getLayout({ id }) {
      if (!peers.layouts.has(id)) throw new Fault("not_found", "layout_not_found", "The event has no such layout.");
      return { layout: undefined };
    },
  });
  const rendering = implementSome(Rendering, {
    async startBatch(request) {
      peers.rendered.push(request);
      return peers.startRendering();
    },
    findBatch: () => peers.findRendering(),
  });
  const initial = { ...peers };
  const service = await startForTest(offlineSales, {
    db,
    peers: { boxoffice: [sales, facts], checkin: [scanHistory, facts], "layout-and-render": [layouts, rendering] },
  });
  const batches = service.connect(OfflineSales);
  const work = () => finishWork(db, service.workers);
  return {
    ...service,
    peers,
    batches,
    sellOnce,
    /** Does all work that is ready. */
    work,
    /** Asks for a batch, and does the work. */
    async make(fields: Partial<CreateBatchRequest> = {}): Promise<OfflineBatch> {
      const { job } = await batches.createBatch({ ...wanted, ...fields });
      await work();
      const { batch, message } = await batches.findCreation({ ...wanted, ...fields, job });
      if (batch === undefined) throw new Error(`no batch was made: ${message}`);
      return batch;
    },
    /** Enqueues work under an id that a test knows. */
    async enqueue(job: string): Promise<void> {
      const { salesChannel, layout, item, amount, comment, testmode } = wanted;
      const fields = { salesChannel, layout, item, amount, comment, testmode, variation: null, subevent: null };
      const payload = { ...place, job, ...fields };
      await db.transaction((tx) =>
        enqueueWork(tx, makeBatch, [{ id: makingId(payload), owner: place.organizer, payload }]),
      );
    },
    async prepareEvent(inEvent: { organizer: string; event: string } = place): Promise<void> {
      const document = new Uint8Array();
      const event = { ...inEvent, revision: 1, name: {}, timezone: "UTC", locale: "en", document };
      await service.deliver(topics.eventChanged, [{ ...event, hasSubevents: true, ticketDownload: undefined }]);
    },
    async reset(): Promise<void> {
      await service.reset();
      Object.assign(peers, initial, {
        ...{ sold: new Map(), asked: [], canceled: [], rendered: [], scanned: new Set(), layouts: new Set([7]) },
      });
    },
  };
}
