import { readOptions } from "@tessera/cli/command/options";
import { endOnSignal } from "@tessera/cli/serve/on-signal";
import { fault } from "../faults.ts";

const options = {
  tickets: {
    type: "string",
    value: "N",
    help: "redeem, reads, search (default 1000000), gates, scanner, board, export (default 100000), render (default 1000)",
  },
  orders: { type: "string", value: "N", help: "import, devices, shred (default 100000)" },
  vouchers: { type: "string", value: "N", help: "vouchers: how many a batch has (default 10000)" },
} as const;

interface Benchmark {
  /** The option with its size. */
  readonly size: keyof typeof options;
  readonly usual: number;
  readonly least: number;
  readonly load: () => Promise<(count: number) => Promise<void>>;
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  redeem: {
    ...{ size: "tickets", usual: 1_000_000, least: 20_000 },
    load: async () => (await import("./redeem.ts")).benchRedeem,
  },
  reads: {
    ...{ size: "tickets", usual: 1_000_000, least: 1000 },
    load: async () => (await import("./reads.ts")).benchReads,
  },
  search: {
    ...{ size: "tickets", usual: 1_000_000, least: 1000 },
    load: async () => (await import("./search.ts")).benchSearch,
  },
  import: {
    ...{ size: "orders", usual: 100_000, least: 1 },
    load: async () => (await import("./import.ts")).benchImport,
  },
  devices: {
    ...{ size: "orders", usual: 100_000, least: 20_000 },
    load: async () => (await import("./devices.ts")).benchDevices,
  },
  gates: {
    ...{ size: "tickets", usual: 100_000, least: 10_000 },
    load: async () => (await import("./gates.ts")).benchGates,
  },
  scanner: {
    ...{ size: "tickets", usual: 100_000, least: 10_000 },
    load: async () => (await import("./scanner-page.ts")).benchScannerPage,
  },
  board: {
    ...{ size: "tickets", usual: 100_000, least: 60_000 },
    load: async () => (await import("./board.ts")).benchBoard,
  },
  export: {
    ...{ size: "tickets", usual: 100_000, least: 10_000 },
    load: async () => (await import("./export.ts")).benchExport,
  },
  render: { size: "tickets", usual: 1000, least: 1, load: async () => (await import("./render.ts")).benchRender },
  vouchers: {
    ...{ size: "vouchers", usual: 10_000, least: 1 },
    load: async () => (await import("./vouchers.ts")).benchVouchers,
  },
  shred: { size: "orders", usual: 100_000, least: 1, load: async () => (await import("./shred.ts")).benchShred },
};

const names = Object.keys(benchmarks).join(", ");
const usage = `npm run bench -- NAME  [OPTIONS]\n\nMeasures on an empty platform of its own, and prints figures beside limits and promises. NAME: ${names}.`;

/** Runs one benchmark. */
export async function bench(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const [name = "without a name"] = read.names;
  const found = benchmarks[name];
  if (found === undefined) throw fault("unknown_bench", `there is no benchmark ${name}; there are: ${names}`);
  const { size, usual, least, load } = found;
  const count = Number(read.values[size] ?? usual);
  if (!Number.isInteger(count) || count < least)
    throw fault("bad_count", `--${size} takes a whole number from ${least}`);
  endOnSignal();
  await (await load())(count);
}
