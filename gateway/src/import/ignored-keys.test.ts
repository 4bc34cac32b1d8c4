import type { IgnoredKey } from "@tessera/protos/gen/ticketing/records/v1/records";
import { describe, expect, it } from "vitest";
import { fakeTargets, item, list, stream } from "../testing/import-targets.ts";
import { importStream } from "./import-stream.ts";

describe("keys that no kind knows", () => {
  const ignoring = (...keys: readonly IgnoredKey[]) => ({ rejected: [], ignored: { keys: [...keys] } });

  it("[R7.11] are summed up over all batches and owners", async () => {
    const { targets } = fakeTargets({
      boxoffice: async ({ records }) => ignoring({ kind: "item", key: "nom", count: records.length }),
      checkin: async () => ignoring({ kind: "checkin_list", key: "limit_product", count: 1 }),
    });
    const items = Array.from({ length: 700 }, (_, id) => item(id));
    expect((await importStream(stream([list(1), ...items]), targets)).ignored).toEqual([
      { kind: "item", key: "nom", count: 700 },
      { kind: "checkin_list", key: "limit_product", count: 1 },
    ]);
  });

  it("[R7.11] are the first hundred, however many batches have others", async () => {
    let batch = 0;
    const { targets } = fakeTargets({
      async boxoffice() {
        batch += 1;
        return ignoring(...Array.from({ length: 80 }, (_, at) => ({ kind: "item", key: `k${batch * at}`, count: 1 })));
      },
    });
    const { ignored } = await importStream(stream(Array.from({ length: 1500 }, (_, id) => item(id))), targets);
    expect(batch).toBe(3);
    expect(ignored).toHaveLength(100);
    expect(ignored.find(({ key }) => key === "k0")).toMatchObject({ count: 3 });
  });

  it("[R6.4, R7.11] are not forgotten where an owner takes the halves of a batch", async () => {
    const { targets } = fakeTargets({
      async boxoffice({ records }) {
        if (records.length > 1) throw new Error("too much for it");
        return ignoring({ kind: "item", key: "nom", count: 1 });
      },
    });
    expect((await importStream(stream([1, 2, 3].map((id) => item(id))), targets)).ignored).toEqual([
      { kind: "item", key: "nom", count: 3 },
    ]);
  });
});
