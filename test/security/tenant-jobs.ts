import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Answer, RequestOptions } from "../e2e/test-platform.ts";
import { type Home, lists, markOf, ownOf, pathOf, shared, token } from "./tenants.ts";

type Send = (method: string, path: string, options?: RequestOptions) => Promise<Answer>;

/** The ids of what the platform has made for an event. */
export interface Made {
  /** It is the same in no two events. */
  readonly scan: number;
  /** A double, which is explained. */
  readonly double: number;
  /** Of a rendered file: its job and its file. */
  readonly render: readonly [string, string];
  /** Of a batch of tickets: its own, that of the job that made it, and those of a rendered file of it. */
  readonly batch: Readonly<Record<string, string>>;
  /** Of an export of personal data, of one that is erased, and of its erasure. */
  readonly shreds: Readonly<Record<string, readonly string[]>>;
}

/** Has the platform make one of everything for an event. */
export async function makeForEvent(send: Send, home: Home): Promise<Made> {
  const as = token(home[0]);
  const body = { error_reason: "error", raw_barcode: "x", error_explanation: `${markOf(home)} refusal` };
  const told = await send("POST", `${pathOf(home)}${lists}${shared}/failed_checkins/`, { as, body });
  expect(told.status).toBe(201);
  const { body: history } = await send("GET", `${pathOf(home)}/checkins/`, { as });
  return {
    scan: (history as { results: { id: number }[] }).results[0]?.id ?? 0,
    double: await letInOffline(send, home),
    render: await render(send, home),
    batch: await sell(send, home),
    shreds: await shred(send, home),
  };
}

/** Lets a ticket in without a network on a list that does not cover it for a moment. */
async function letInOffline(send: Send, home: Home): Promise<number> {
  const as = token(home[0]);
  const list = `${pathOf(home)}${lists}${ownOf(home)}/`;
  const cover = async (covered: { readonly all_products: boolean }) =>
    expect((await send("PATCH", list, { as, body: { ...covered, limit_products: [] } })).status).toBe(200);
  await cover({ all_products: false });
  const body = { force: true, datetime: new Date(Date.now() - 600_000).toISOString() };
  expect((await send("POST", `${list}positions/${shared}/redeem/`, { as, body })).status).toBe(201);
  await cover({ all_products: true });
  const doubles = `${pathOf(home)}/doubles/`;
  const { results } = (await send("GET", doubles, { as })).body as { readonly results: readonly { id: number }[] };
  const id = results[0]?.id ?? 0;
  const explained = { explained: `${markOf(home)} explanation` };
  expect((await send("PATCH", `${doubles}${id}/`, { as, body: explained })).status).toBe(200);
  return id;
}

/** Renders a ticket of an event, and waits for the file. */
async function render(send: Send, home: Home): Promise<readonly [string, string]> {
  const as = token(home[0]);
  const parts = [{ orderposition: shared }];
  const started = await send("POST", `${pathOf(home)}/ticketpdfrenderer/render_batch/`, { as, body: { parts } });
  expect(started.status).toBe(202);
  const { pathname } = await untilEnded(send, started.body.download, as);
  const [job = "", file = ""] = pathname.split("/").slice(-3);
  return [job, file];
}

/** Sells a batch of tickets of an event, and renders it. */
async function sell(send: Send, home: Home): Promise<Readonly<Record<string, string>>> {
  const as = token(home[0]);
  const at = `${pathOf(home)}/offlinesalesbatches/`;
  const of = { layout: shared, item: shared, subevent: shared, sales_channel: "web", amount: 1 };
  const asked = await send("POST", at, { as, body: { ...of, comment: `${markOf(home)} batch` } });
  expect(asked.status).toBe(202);
  const made = await untilEnded(send, asked.body.check, as);
  const rendered = await send("POST", `${at}${made.body.id}/render/`, { as });
  const { pathname } = await untilEnded(send, rendered.body.download, as);
  const [job = "", file = ""] = pathname.split("/").slice(-3);
  return { id: String(made.body.id), making: made.pathname.split("/").at(-2) ?? "", job, file };
}

/** Erases what nothing is held of, and makes another export, which can be downloaded. */
async function shred(send: Send, home: Home): Promise<Readonly<Record<string, readonly string[]>>> {
  const as = token(home[0]);
  const idsOf = (address: string) => new URL(address).pathname.split("/").slice(-3, -1);
  const make = async () => {
    const asked = await send("POST", `${pathOf(home)}/shredders/export/`, {
      as,
      body: { shredders: ["payment_info"] },
    });
    expect([asked.status, asked.body]).toEqual([202, expect.anything()]);
    await untilEnded(send, asked.body.download, as);
    return asked.body as { readonly download: string; readonly shred: string };
  };
  const erased = await make();
  const started = await send("POST", new URL(erased.shred).pathname, { as });
  expect((await untilEnded(send, started.body.status, as)).status).toBe(200);
  return {
    shred: idsOf(erased.shred),
    download: idsOf((await make()).download),
    status: idsOf(started.body.status),
    certificate: idsOf(started.body.status),
  };
}

/** Waits for the end of a job at an address. */
async function untilEnded(send: Send, address: string, as: string): Promise<Answer & { readonly pathname: string }> {
  const { pathname } = new URL(address);
  for (;;) {
    const answer = await send("GET", pathname, { as });
    if (answer.status !== 409) return { ...answer, pathname };
    await sleep(50);
  }
}
