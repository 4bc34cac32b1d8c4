import { runVerb } from "../command/run-verb.ts";

export async function operateVouchers(args: string[]): Promise<void> {
  await runVerb(
    "tessera voucher",
    {
      check: {
        summary: "voucher check CODE: what a code does to a price, or why it cannot be used",
        load: async () => (await import("./check-voucher.ts")).checkVoucher,
      },
    },
    args,
  );
}
