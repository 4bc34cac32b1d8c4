import { mapInSlices } from "@tessera/kit/waiting/in-slices";
import type { NewVoucher } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { conflict, detail, invalid, notFound } from "../../http/answers.ts";
import { unwrapElementErrors } from "../../http/element-errors.ts";
import { declareList } from "../../http/list-route.ts";
import {
  choiceFilter,
  countFilter,
  decimalFilter,
  flagFilter,
  idFilter,
  ordering,
  textFilter,
} from "../../http/parameter.ts";
import { declare, type Incoming, type Reply } from "../../http/route.ts";
import { writeList } from "../../http/write-list.ts";
import { voucherExamples } from "./examples.ts";
import { presentVoucher, toNewVoucher, voucherFields, withDefaults } from "./present.ts";
import {
  batchBody,
  invalidBatch,
  priceModes,
  type SentVoucher,
  voucherBody,
  voucherPatch,
  voucherPut,
  voucherShown,
  vouchersShown,
} from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.vouchers:read"], profiles: [] };

const writing: Access = { kind: "event", anyOf: ["event.vouchers:write"], profiles: [] };

/** The timeout of a batch. With the time for its body, common clients and proxies wait this long. */
const batchMs = 20_000;

const shown = (description: string) => ({ description, schema: voucherShown });
const missing = notFound("The event has no such voucher.");

/** Vouchers of an event: `vouchers/` and below. */
export function voucherRoutes({ vouchers }: Pick<Clients, "vouchers">) {
  const find = (request: Incoming) =>
    vouchers.getVoucher(request.inEvent({ id: request.id("id") }), { signal: request.signal });

  const change = (request: Incoming, sent: SentVoucher) =>
    vouchers.updateVoucher(
      request.inEvent(
        { id: request.id("id") },
        { fields: voucherFields.toMessage(sent), updateMask: voucherFields.namesIn(sent) },
      ),
    );

  const update = async (request: Incoming, sent: SentVoucher): Promise<Reply> => {
    const { voucher } = await change(request, sent);
    return { status: "ok", body: presentVoucher(voucher) };
  };

  return {
    list: declareList({
      name: "listVouchers",
      example: voucherExamples.list,
      summary: "Lists the vouchers of an event",
      access: reading,
      query: {
        ordering: ordering(["id", "code", "max_usages", "valid_until", "value"], "id"),
        code: textFilter("Only the voucher with this code, in any letter case."),
        max_usages: countFilter("Only vouchers that can be redeemed so often."),
        redeemed: countFilter("Only vouchers that were redeemed so often."),
        block_quota: flagFilter("Only vouchers that block quota, or only others."),
        allow_ignore_quota: flagFilter("Only vouchers that ignore quota, or only others."),
        price_mode: choiceFilter("Only vouchers with this effect on the price.", priceModes),
        value: decimalFilter("Only vouchers with this value."),
        item: idFilter("Only vouchers for this item."),
        variation: idFilter("Only vouchers for this variation."),
        quota: idFilter("Only vouchers for this quota."),
        tag: textFilter("Only vouchers with this tag."),
        subevent: idFilter("Only vouchers of this date."),
        active: flagFilter("Only vouchers that are neither used up nor expired, or only others."),
        search: textFilter("Found anywhere in code, tag or comment, in any letter case."),
      },
      page: "One page of vouchers.",
      shows: voucherShown,
      async find(request, page) {
        const { query, signal } = request;
        const found = await vouchers.listVouchers(
          request.inEvent({
            ...page,
            ordering: [...query.ordering],
            code: query.code,
            maxUsages: query.max_usages,
            redeemed: query.redeemed,
            blockQuota: query.block_quota,
            allowIgnoreQuota: query.allow_ignore_quota,
            priceMode: query.price_mode,
            value: query.value,
            item: query.item,
            variation: query.variation,
            quota: query.quota,
            tag: query.tag,
            subevent: query.subevent,
            active: query.active,
            search: query.search,
          }),
          { signal },
        );
        return { ...found, results: found.vouchers.map(presentVoucher) };
      },
    }),

    get: declare({
      name: "getVoucher",
      example: voucherExamples.get,
      summary: "Shows a voucher",
      access: reading,
      answers: { ok: shown("The voucher."), notFound: missing },
      async handle(request) {
        const { voucher } = await find(request);
        return { status: "ok", body: presentVoucher(voucher) };
      },
    }),

    create: declare({
      name: "createVoucher",
      example: voucherExamples.create,
      summary: "Creates a voucher",
      access: writing,
      body: voucherBody,
      answers: { created: shown("The new voucher."), invalid, conflict },
      async handle(request) {
        const { vouchers: created } = await createAlone(request, request.body);
        return { status: "created", body: presentVoucher(created[0]) };
      },
    }),

    createBatch: declare({
      name: "createVouchers",
      example: voucherExamples.createBatch,
      summary: "Creates many vouchers at once",
      description: "All of them or none are created.",
      access: writing,
      body: batchBody,
      answers: {
        created: { description: "The new vouchers, in the order of the request.", schema: vouchersShown },
        invalid: invalidBatch,
        conflict,
      },
      async handle(request) {
        const asked = await mapInSlices(request.body, toNewVoucher);
        const created = asked.length === 0 ? [] : await createAll(request, asked);
        return { status: "created", type: "application/json", body: await writeList(created, presentVoucher) };
      },
    }),

    patch: declare({
      name: "updateVoucher",
      example: voucherExamples.patch,
      summary: "Changes some fields of a voucher",
      access: writing,
      body: voucherPatch,
      answers: { ok: shown("The voucher."), invalid, notFound: missing, conflict },
      exists: find,
      handle: (request) => update(request, request.body),
    }),

    put: declare({
      name: "replaceVoucher",
      example: voucherExamples.put,
      summary: "Sets all fields of a voucher",
      description: "Fields that are left out return to their default; the code stays.",
      access: writing,
      body: voucherPut,
      answers: { ok: shown("The voucher."), invalid, notFound: missing, conflict },
      exists: find,
      handle: (request) => update(request, withDefaults(request.body)),
    }),

    remove: declare({
      name: "deleteVoucher",
      example: voucherExamples.remove,
      summary: "Deletes a voucher that was never redeemed",
      access: writing,
      answers: {
        noContent: { description: "It is deleted." },
        forbidden: { description: "It was redeemed, or these credentials do not allow this.", schema: detail },
        notFound: missing,
        conflict,
      },
      async handle(request) {
        await vouchers.deleteVoucher(request.inEvent({ id: request.id("id") }));
        return { status: "noContent" };
      },
    }),
  };

  function createAlone(request: Incoming, sent: SentVoucher) {
    const create = vouchers.createVouchers(request.inEvent({}, { vouchers: [toNewVoucher(sent)] }));
    return create.catch((error: unknown) => {
      throw unwrapElementErrors(error);
    });
  }

  async function createAll(request: Incoming, asked: NewVoucher[]) {
    const options = { timeoutMs: batchMs };
    return (await vouchers.createVouchers(request.inEvent({}, { vouchers: asked }), options)).vouchers;
  }
}
