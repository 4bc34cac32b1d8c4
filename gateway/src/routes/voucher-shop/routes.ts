import { formatInstant } from "@tessera/values";
import type { Access } from "../../access/may-use.ts";
import type { Clients } from "../../clients.ts";
import { detail, invalid, invalidIn, notFound } from "../../http/answers.ts";
import { declare } from "../../http/route.ts";
import { voucherShopExamples } from "./examples.ts";
import { presentAnswer, toAsk } from "./present.ts";
import {
  checkBody,
  checkedShown,
  confirmBody,
  confirmedShown,
  releaseBody,
  reserveBody,
  reservedShown,
} from "./schema.ts";

const reading: Access = { kind: "event", anyOf: ["event.vouchers:read"], profiles: [] };

const writing: Access = { kind: "event", anyOf: ["event.vouchers:write"], profiles: [] };

const used = (description: string) => ({ description, schema: detail });

const noEvent = notFound("The vouchers of the event are not known yet, or are being deleted with it.");

const again = "Sent again it has the same answer and the same effect.";

/** What shops do with vouchers while they sell: check, reserve, confirm, release. */
export function voucherShopRoutes({ voucherShop }: Pick<Clients, "voucherShop">) {
  return {
    check: declare({
      name: "checkVouchers",
      example: voucherShopExamples.check,
      summary: "Says what vouchers do to prices now",
      description: "Nothing is taken, and nothing is promised: only a reservation does that.",
      access: reading,
      body: checkBody,
      listField: "asks",
      answers: {
        ok: { description: "An offer or a refusal for each ask.", schema: checkedShown },
        invalid: invalidIn("VoucherCheckErrors", "asks"),
        notFound: noEvent,
      },
      async handle({ body, inEvent, signal }) {
        const { answers } = await voucherShop.checkVouchers(inEvent({ asks: body.asks.map(toAsk) }), { signal });
        return { status: "ok", body: { answers: answers.map(presentAnswer) } };
      },
    }),

    reserve: declare({
      name: "reserveVouchers",
      example: voucherShopExamples.reserve,
      summary: "Holds vouchers for a cart for a while: all of them or none",
      description: `What is reserved can be confirmed until it expires, whatever becomes of the voucher. ${again}`,
      access: writing,
      body: reserveBody,
      listField: "uses",
      answers: {
        ok: { description: "Reserved, or refused and nothing is held.", schema: reservedShown },
        invalid: invalidIn("VoucherReservationErrors", "uses", ["reservation", "lifetime"]),
        notFound: noEvent,
        conflict: used(
          "This reservation has expired or was released, or another cart has its id; or others are at work.",
        ),
      },
      async handle({ body: { reservation, uses, lifetime }, inEvent }) {
        const lifetimeMs = Math.round(lifetime * 1000);
        const { answers, expiresAt } = await voucherShop.reserveVouchers(
          inEvent({ reservation, lifetimeMs, uses: uses.map(toAsk) }),
        );
        const status = expiresAt === undefined ? "refused" : "reserved";
        const expires = expiresAt === undefined ? null : formatInstant(expiresAt);
        return { status: "ok", body: { status, expires, answers: answers.map(presentAnswer) } };
      },
    }),

    confirm: declare({
      name: "confirmVouchers",
      example: voucherShopExamples.confirm,
      summary: "Makes each use of a reservation that of a position",
      description: `For carts that were paid or placed. ${again}`,
      access: writing,
      body: confirmBody,
      answers: {
        ok: { description: "The uses count from now on.", schema: confirmedShown },
        invalid,
        notFound: notFound("There is no such reservation; it may have ended long ago."),
        conflict: used("It has expired, was released, or was confirmed for other positions; or others are at work."),
      },
      async handle({ body: { reservation, positions }, inEvent }) {
        await voucherShop.confirmReservation(inEvent({ reservation, positions }));
        return { status: "ok", body: { status: "confirmed" } };
      },
    }),

    release: declare({
      name: "releaseVouchers",
      example: voucherShopExamples.release,
      summary: "Gives back what a reservation holds",
      description: `Also one that has not arrived yet: it then holds nothing. ${again}`,
      access: writing,
      body: releaseBody,
      answers: {
        noContent: { description: "It holds nothing." },
        invalid,
        notFound: noEvent,
        conflict: used("It is confirmed: cancel the order instead. Or others are at work."),
      },
      async handle({ body: { reservation }, inEvent }) {
        await voucherShop.releaseReservation(inEvent({ reservation }));
        return { status: "noContent" };
      },
    }),
  };
}
