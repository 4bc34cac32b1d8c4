import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { vouchers } from "../store/vouchers.ts";

export const voucherChanged = keepCopy(
  topics.voucherChanged,
  vouchers,
  ({ organizer, event, id, revision, voucher }) => ({
    organizer,
    event,
    id,
    revision,
    code: voucher?.fields?.code ?? "",
  }),
);
