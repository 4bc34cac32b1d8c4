import { bigint, bigints, boolean, copyTable, document } from "@tessera/kit/pg/table";
import { entityKey } from "./keys.ts";

/** What voucher keeps of what its vouchers refer to. */
export const subevents = copyTable("subevent", { key: entityKey, columns: {} });

export const categories = copyTable("category", { key: entityKey, columns: { isAddon: boolean } });

export const items = copyTable("item", {
  key: entityKey,
  columns: { category: bigint.orNull, variations: bigints, document },
});

export const quotas = copyTable("quota", {
  key: entityKey,
  columns: { items: bigints, variations: bigints, subevent: bigint.orNull },
});
