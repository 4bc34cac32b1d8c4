import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { topics } from "@tessera/protos/topics";
import { items } from "../store/items.ts";

export const itemChanged = keepCopy(topics.itemChanged, items, (fact) => ({
  ...fact,
  variations: fact.variations.map(({ id, value, position, checkinAttention, checkinText = null }) => ({
    id,
    value,
    position,
    checkinAttention,
    checkinText,
  })),
}));
