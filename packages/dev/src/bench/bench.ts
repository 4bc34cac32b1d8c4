import { endOnSignal } from "@tessera/cli/on-signal";
import { readOptions } from "@tessera/cli/options";
import { fault } from "../faults.ts";

const usage =
  "npm run bench -- NAME  [OPTIONS]\n\nMeasures on an empty platform of its own and prints figures and ratios. NAME: import, facts, exits, reads, search, status, redeem, overload, vouchers, render, offline, shred.";

const options = {
  orders: {
    type: "string",
    value: "N",
    default: "100000",
    help: "import: how many one-position orders (default 100000)",
  },
  inside: {
    type: "string",
    value: "N",
    default: "300000",
    help: "exits: how many tickets are checked out (default 300000)",
  },
  facts: {
    type: "string",
    value: "N",
    default: "500000",
    help: "facts: how many wait in the backlog (default 500000)",
  },
  tickets: {
    type: "string",
    value: "N",
    default: "1000000",
    help: "reads, search, status, redeem: how many tickets the event has (default 1000000)",
  },
  rendered: {
    type: "string",
    value: "N",
    default: "1000",
    help: "render: how many tickets are in one file (default 1000)",
  },
  sold: {
    type: "string",
    value: "N",
    default: "10000",
    help: "offline: how many tickets a batch has (default 10000)",
  },
  erased: {
    type: "string",
    value: "N",
    default: "100000",
    help: "shred: how many orders the event has (default 100000)",
  },
  vouchers: {
    type: "string",
    value: "N",
    default: "1000000",
    help: "vouchers: how many the event has when pages are read (default 1000000)",
  },
  seconds: {
    type: "string",
    value: "N",
    help: "facts: how long the delay of facts is measured; 0 leaves it out (default 30). overload: how long it lasts (default 60)",
  },
  folder: {
    type: "string",
    value: "DIR",
    help: "facts: where everything is stored while the delay is measured (default: in memory, if there is room)",
  },
} as const;

/** Runs one benchmark. */
export async function bench(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values } = read;
  const [name] = read.names;
  endOnSignal();
  if (name === "import") {
    const orders = readCount("--orders", values.orders, 1);
    const { benchImport } = await import("./import.ts");
    return benchImport({ orders });
  }
  if (name === "facts") {
    const [facts, seconds] = [readCount("--facts", values.facts, 1), readCount("--seconds", values.seconds ?? "30", 0)];
    const { benchFacts } = await import("./facts.ts");
    return benchFacts({ facts, seconds, ...(values.folder === undefined ? {} : { folder: values.folder }) });
  }
  if (name === "exits") {
    const inside = readCount("--inside", values.inside, 1);
    const { benchExits } = await import("./exits.ts");
    return benchExits({ inside });
  }
  if (name === "reads") {
    const { benchReads } = await import("./reads.ts");
    return benchReads({ tickets: readCount("--tickets", values.tickets, 1000) });
  }
  if (name === "search") {
    const { benchSearch } = await import("./lookups.ts");
    return benchSearch({ tickets: readCount("--tickets", values.tickets, 1000) });
  }
  if (name === "status") {
    const { benchStatus } = await import("./lookups.ts");
    return benchStatus({ tickets: readCount("--tickets", values.tickets, 1000) });
  }
  if (name === "redeem") {
    const { benchRedeem } = await import("./redeem.ts");
    return benchRedeem({ tickets: readCount("--tickets", values.tickets, 1000) });
  }
  if (name === "overload") {
    const { benchOverload } = await import("./overload.ts");
    return benchOverload({ seconds: readCount("--seconds", values.seconds ?? "60", 1) });
  }
  if (name === "vouchers") {
    const { benchVouchers } = await import("./vouchers.ts");
    return benchVouchers({ vouchers: readCount("--vouchers", values.vouchers, 1000) });
  }
  if (name === "render") {
    const { benchRender } = await import("./render.ts");
    return benchRender({ tickets: readCount("--rendered", values.rendered, 1) });
  }
  if (name === "offline") {
    const { benchOffline } = await import("./offline.ts");
    return benchOffline({ tickets: readCount("--sold", values.sold, 1) });
  }
  if (name === "shred") {
    const { benchShred } = await import("./shred.ts");
    return benchShred({ orders: readCount("--erased", values.erased, 1) });
  }
  throw fault(
    "unknown_bench",
    `there is no benchmark ${name ?? "without a name"}; there are: import, facts, exits, reads, search, status, redeem, overload, vouchers, render, offline, shred`,
  );
}

function readCount(option: string, text: string, least: number): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < least)
    throw fault("bad_count", `${option} takes a whole number from ${least}`);
  return count;
}
