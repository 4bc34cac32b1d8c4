import { Fault } from "@tessera/kit/fault";
import { readOptions } from "./options.ts";

const usage =
  "tessera bench NAME  [OPTIONS]\n\nMeasures on an empty platform of its own and prints figures and ratios. NAME: import.";

const options = {
  orders: { type: "string", value: "N", default: "100000", help: "how many one-position orders (default 100000)" },
} as const;

/** Runs one benchmark. */
export async function bench(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const [name] = read.names;
  if (name !== "import")
    throw new Fault("invalid", "unknown_bench", `there is no benchmark ${name ?? "without a name"}; there is: import`);
  const orders = Number(read.values.orders);
  if (!Number.isInteger(orders) || orders < 1)
    throw new Fault("invalid", "bad_orders", "--orders takes a whole number from 1");
  const { benchImport } = await import("./bench-import.ts");
  await benchImport({ orders });
}
