import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import type { Implementation } from "@tessera/kit/rpc";
import type { Layout, LayoutFields } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts, Records, Rendering } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { startForTest } from "@tessera/testkit/start-for-test";
import { layoutAndRender } from "../index.ts";

export const place = { organizer: "bigevents", event: "sampleconf" } as const;

/** The service on a database, called as its peers call it. */
export type RunningLayout = Awaited<ReturnType<typeof startLayout>>;

const zero: LayoutFields = { name: "Ticket", isDefault: false, elements: "[]", background: undefined };

export async function startLayout(
  db: Db,
  {
    files,
    boxoffice = [],
    checkin = [],
  }: {
    readonly files?: Files;
    readonly boxoffice?: readonly Implementation[];
    readonly checkin?: readonly Implementation[];
  } = {},
) {
  const peers = { boxoffice, checkin };
  const service = await startForTest(layoutAndRender, { db, peers, ...(files === undefined ? {} : { files }) });
  const layouts = service.connect(Layouts);
  const required = (layout: Layout | undefined): Layout => {
    if (layout === undefined) throw new Error("no layout came back");
    return layout;
  };
  return {
    ...service,
    layouts,
    records: service.connect(Records),
    rendering: service.connect(Rendering),
    async create(
      fields: Partial<LayoutFields> = {},
      at: { organizer: string; event: string } = place,
    ): Promise<Layout> {
      return required((await layouts.createLayout({ ...at, fields: { ...zero, ...fields } })).layout);
    },
    async update(id: number, fields: Partial<LayoutFields>): Promise<Layout> {
      const updateMask = Object.keys(fields).map((name) => (name === "isDefault" ? "is_default" : name));
      return required(
        (await layouts.updateLayout({ ...place, id, fields: { ...zero, ...fields }, updateMask })).layout,
      );
    },
    async get(id: number): Promise<Layout> {
      return required((await layouts.getLayout({ ...place, id })).layout);
    },
    async list(): Promise<Layout[]> {
      return (await layouts.listLayouts({ ...place, page: 1, pageSize: 50 })).layouts;
    },
    /** An event with the items 1 to 3, and the channel `resellers` of its organizer. */
    async prepareEvent({
      organizer = place.organizer,
      event = place.event,
    }: {
      organizer?: string;
      event?: string;
    } = {}): Promise<void> {
      const document = new Uint8Array();
      await service.deliver(topics.eventChanged, [
        {
          ...{ organizer, event, revision: 1, name: {}, timezone: "UTC", locale: "en", document },
          ...{ hasSubevents: false, ticketDownload: undefined },
        },
      ]);
      const item = { organizer, event, revision: 1, name: {}, admission: true, position: 0, checkinAttention: false };
      await service.deliver(
        topics.itemChanged,
        [1, 2, 3].map((id) => ({ ...item, id, variations: [], document })),
      );
      await service.deliver(topics.salesChannelChanged, [{ organizer, identifier: "resellers", revision: 1 }]);
    },
  };
}
