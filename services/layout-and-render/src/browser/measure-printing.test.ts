import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { expect, it } from "vitest";
import { fault } from "../faults.ts";
import { measurePrinting } from "./measure-printing.ts";
import type { Printed, PrintJob } from "./print-job.ts";

it("prints are counted by how they ended, and pages only where they were printed", async () => {
  const metrics = createMetrics();
  const outcomes: (() => Promise<Printed>)[] = [
    async () => ({ pdf: Buffer.from("") }) as unknown as Printed,
    async () => Promise.reject(fault("print_queue_full", "Try again later.")),
    async () => Promise.reject(new Error("broken")),
  ];
  const goOn = Promise.withResolvers<void>();
  const printer = measurePrinting(
    {
      tabs: 1,
      async print() {
        const outcome = outcomes.shift();
        await goOn.promise;
        if (outcome === undefined) throw new Error("nothing else is printed");
        return outcome();
      },
      warmUp: async () => {},
      close: async () => {},
    },
    metrics,
  );
  const job = { pages: 3 } as PrintJob;
  const valueOfSeries = async (series: string) =>
    Number(
      (await metrics.exposition())
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.split(" ")[1],
    );
  const prints = [1, 2, 3].map(() => printer.print(job, { party: "bigevents" }));
  expect(await valueOfSeries("tessera_printing_jobs")).toBe(3);
  goOn.resolve();
  expect((await Promise.allSettled(prints)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await valueOfSeries("tessera_printing_jobs")).toBe(0);
  expect(await valueOfSeries("tessera_printing_pages_total")).toBe(3);
  for (const outcome of ["printed", "print_queue_full", "failed"])
    expect(await valueOfSeries(`tessera_printing_duration_seconds_count{outcome="${outcome}"}`)).toBe(1);
});
