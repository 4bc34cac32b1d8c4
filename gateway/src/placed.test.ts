import type { UpdateVoucherRequest } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";
import { expect, it } from "vitest";
import type { Clients } from "./clients.ts";
import { type EventPlace, type NoEvent, placing } from "./placed.ts";

const inEvent = placing<EventPlace>({ organizer: "ours", event: "fest" });
const inOrganizer = placing<NoEvent>({ organizer: "ours" });
const fields = { fields: undefined, updateMask: [] };

it("[S1.9] says where it acts after all that was sent, and what the path says after the body", () => {
  const sent = { organizer: "theirs", event: "gala", id: 2, updateMask: ["code"] };
  expect(inEvent<UpdateVoucherRequest, "id">({ id: 1 }, sent as never)).toEqual({
    organizer: "ours",
    event: "fest",
    id: 1,
    updateMask: ["code"],
  });
});

it("[S1.9] is not taken by a client unless it was made so", () => {
  const asked: unknown[] = [];
  const remember = async (message: unknown) => asked.push(message) as never;
  const client: Pick<Clients["vouchers"], "updateVoucher" | "getVoucher"> = {
    updateVoucher: remember,
    getVoucher: remember,
  };
  const whole = inEvent<UpdateVoucherRequest>({ id: 1, ...fields });
  const body: { readonly code?: string; readonly organizer?: string } = {};
  void client.updateVoucher(inEvent({ id: 1 }, fields));
  void client.getVoucher(inEvent({ id: 1 }));
  // @ts-expect-error it says itself where it acts
  void client.getVoucher({ id: 1, organizer: "ours", event: "fest" });
  // @ts-expect-error something is put over the place
  void client.updateVoucher({ ...whole, organizer: "theirs" });
  // @ts-expect-error a copy may have been changed
  void client.updateVoucher({ ...whole });
  // @ts-expect-error the organizer is not said beside the place
  void client.getVoucher(inEvent({ id: 1, organizer: "theirs" }));
  // @ts-expect-error nor sent
  void client.updateVoucher(inEvent({ id: 1 }, { ...fields, organizer: "theirs" }));
  // @ts-expect-error what the path says is not sent as well
  void client.updateVoucher(inEvent({ id: 1 }, { ...fields, id: 2 }));
  // @ts-expect-error a body that may name an organizer is no part of a message
  void client.updateVoucher(inEvent({ id: 1 }, { ...fields, ...body }));
  // @ts-expect-error a message that acts in an event is not one of the organizer
  void client.getVoucher(inOrganizer({ id: 1 }));
  // @ts-expect-error the message has no such field
  void client.getVoucher(inEvent({ id: 1, code: "x" }));
  expect(asked).toHaveLength(11);
});
