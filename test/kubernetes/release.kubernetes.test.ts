import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, eventPath, groundwork, listData, ofEvent, orderData, positionData } from "../e2e/sample-records.ts";
import { openAsAdministrator } from "../failure/fact-ledger.ts";
import { buildImages, findInImage, inspectImage, rebuildImages, targets } from "./build-images.ts";
import { type OutsideEngines, startOutsideEngines } from "./outside-engines.ts";
import { helmOf, namespace, operatorKey, prepareNamespace } from "./release.ts";
import { openGates, secretOf, type Visit } from "./scans-through-service.ts";
import { type Kubernetes, startKubernetes } from "./start-kubernetes.ts";

const builds = { first: "build-1", second: "build-2" } as const;
const mostBytes = { tessera: 180_000_000, chromium: 480_000_000 } as const;
const tickets = 25_000;
/** Forty scans a second: the tickets last for ten minutes. */
const load = { tickets, gates: 4, pauseMs: 100 };

interface Pod {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
}

describe("the images", () => {
  beforeAll(async () => {
    await buildImages(builds.first);
    await rebuildImages(builds.first, builds.second);
  });

  it.each(["tessera", "chromium"] as const)(
    "%s is small, without a package manager, and not root's",
    async (target) => {
      const { user, labels, packedBytes } = await inspectImage(target, builds.first);
      process.stdout.write(`${targets[target]}: ${(packedBytes / 1e6).toFixed(0)} MB packed\n`);
      expect(user).toBe("10001:10001");
      expect(labels).toMatchObject({
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": builds.first,
        "org.opencontainers.image.version": "0.1.0",
      });
      const managers = ["apt", "apt-get", "dpkg", "npm", "npx", "yarn", "pnpm", "corepack"];
      expect(
        await findInImage(
          target,
          builds.first,
          managers.map((name) => `*/bin/${name}`),
        ),
      ).toEqual([]);
      expect(packedBytes).toBeLessThan(mostBytes[target]);
    },
  );
});

describe("a release in a namespace that enforces the Pod Security Standard restricted", () => {
  let kubernetes: Kubernetes;
  let engines: OutsideEngines;
  let helm: ReturnType<typeof helmOf>;
  let baseUrl = "";
  const visits: Visit[] = [];

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    engines = await startOutsideEngines();
    for (const name of Object.values(targets))
      for (const tag of Object.values(builds)) await kubernetes.importImage(`${name}:${tag}`);
    await prepareNamespace(kubernetes, engines);
    helm = helmOf(kubernetes);
  });
  afterAll(async () => {
    await engines?.stop();
    await kubernetes?.stop();
  });

  const pods = async (component?: string) => {
    const selector = component === undefined ? [] : ["--selector", `app.kubernetes.io/component=${component}`];
    const { items } = await kubernetes.get<{ items: Pod[] }>("pods", "--namespace", namespace, ...selector);
    return items;
  };

  /** Visitors come while something happens, and for some seconds before and after it. */
  async function whileVisitorsCome(
    what: string,
    act: () => Promise<unknown>,
    { repeatForMs = 0 }: { readonly repeatForMs?: number } = {},
  ): Promise<Visit> {
    const gates = openGates({ baseUrl, ...load, repeatForMs });
    const begun = performance.now();
    try {
      await sleep(3000);
      await act();
      await sleep(8000);
    } finally {
      visits.push(await gates.finish());
    }
    const visit = visits.at(-1) as Visit;
    const seconds = (performance.now() - begun) / 1000;
    process.stdout.write(
      `${what}: ${visit.admitted.length} scans in ${seconds.toFixed(0)} s, ${visit.failures.length} failures, slowest ${visit.slowestMs} ms\n`,
    );
    return visit;
  }

  it("is installed, and every pod is ready", async () => {
    const begun = performance.now();
    const said = await helm.install(engines, { tag: builds.first, replicas: { gateway: 2 } });
    process.stdout.write(`installed in ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
    expect(said).toContain("STATUS: deployed");
    expect(said).not.toContain("would violate PodSecurity");
    const { spec } = await kubernetes.get<{ spec: { clusterIP: string } }>(
      ...["service", "tessera-gateway-http", "--namespace", namespace],
    );
    baseUrl = `http://${spec.clusterIP}`;
  });

  it("finds nothing wrong with itself", async () => {
    expect(await helm.test()).toMatch(/Phase:\s+Succeeded/);
  });

  it("imports records, and admits a visitor once", async () => {
    const orders = Array.from({ length: tickets }, (_, index) => {
      const id = index + 1;
      const position = positionData({ id, secret: secretOf(id), pseudonymization_id: `P${id}` });
      return ofEvent("order", orderData({ code: `T${id}`, positions: [position] }));
    });
    const layout = [
      {
        ...{ type: "textarea", left: 20, bottom: 250, width: 150, content: "attendee_name", fontsize: 12 },
        ...{ fontfamily: "Open Sans", bold: false, italic: false, align: "left", color: [0, 0, 0], downward: true },
      },
      { type: "barcodearea", left: 100, bottom: 100, size: 50 },
    ];
    const records = [
      ...groundwork(),
      ofEvent("event_settings", { locale: "en", ticket_download: true }),
      ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout }),
      ofEvent("checkin_list", listData()),
      ...orders,
    ];
    const answer = await fetch(`${baseUrl}/api/v1/import/`, {
      method: "POST",
      headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
      body: records.map((record) => JSON.stringify(record)).join("\n"),
    });
    expect(await answer.json()).toMatchObject({ rejected: 0, settled: true });
    const visit = await whileVisitorsCome("a quiet minute", () => sleep(5000));
    expect(visit.failures).toEqual([]);
  });

  it("renders a ticket with a browser in its sandbox", async () => {
    const headers = { authorization: `Token ${apiKey}` };
    const path = `${baseUrl}${eventPath}/orderpositions/${tickets}/download/pdf/`;
    let pdf = await fetch(path, { headers });
    for (const until = Date.now() + 60_000; pdf.status === 409 && Date.now() < until; await sleep(300)) {
      pdf = await fetch(path, { headers });
    }
    expect([pdf.status, pdf.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    const { pages } = await readPdf(Buffer.from(await pdf.arrayBuffer()));
    expect(pages.map(({ texts }) => texts.map(({ text }) => text).join(" "))).toEqual([
      expect.stringContaining("Peter Zwiebelhuber"),
    ]);
    const [printer] = await pods("layout-and-render");
    const log = await kubernetes.kubectl("logs", "--namespace", namespace, printer?.metadata.name ?? "");
    expect(log).not.toContain("without its sandbox");
  });

  it("scales check-in from one pod to three, and no request fails", async () => {
    const { failures } = await whileVisitorsCome("check-in 1 → 3", () =>
      helm.install(engines, { tag: builds.first, replicas: { gateway: 2, checkin: 3 } }),
    );
    expect(failures).toEqual([]);
    expect(await pods("checkin")).toHaveLength(3);
  });

  it("is upgraded to another build, and no request fails", async () => {
    const { failures } = await whileVisitorsCome("upgrade", () =>
      helm.install(engines, { tag: builds.second, replicas: { gateway: 2, checkin: 2 } }),
    );
    expect(failures).toEqual([]);
  });

  it("is rolled back, and no request fails", async () => {
    const { failures } = await whileVisitorsCome("rollback", () => helm.rollback(2));
    expect(failures).toEqual([]);
  });

  it("runs more gateways and then one, and no request fails", async () => {
    const { failures } = await whileVisitorsCome("gateways 2 → 4 → 1", async () => {
      await helm.install(engines, { tag: builds.first, replicas: { gateway: 4, checkin: 2 } });
      await sleep(3000);
      await helm.install(engines, { tag: builds.first, replicas: { gateway: 1, checkin: 2 } });
    });
    expect(failures).toEqual([]);
  });

  it("loses no scan when every pod is killed once", async () => {
    await helm.install(engines, { tag: builds.first, replicas: { gateway: 2, checkin: 2 } });
    const { admitted, failures, lost } = await whileVisitorsCome(
      "every pod killed",
      async () => {
        for (const { metadata } of await pods()) {
          if (metadata.labels["app.kubernetes.io/component"] === "doctor") continue;
          await kubernetes.kubectl(
            ...["delete", "pod", metadata.name, "--namespace", namespace, "--grace-period=0", "--force"],
          );
          await sleep(4000);
        }
        await kubernetes.kubectl(
          "wait",
          "--for=condition=Available",
          "deployment",
          "--all",
          "--namespace",
          namespace,
          "--timeout=300s",
        );
      },
      { repeatForMs: 120_000 },
    );
    expect(lost).toEqual([]);
    process.stdout.write(`answers that had to be repeated: ${JSON.stringify(failures.slice(0, 20))}\n`);
    expect(admitted.length).toBeGreaterThan(0);
  });

  it("has every admitted visitor in its database, and none twice", async () => {
    const db = openAsAdministrator(engines.ownDatabaseUrl);
    try {
      const rows = await db.many<{ position: number; scans: number }>(sql`
        select scan.position, count(*) as scans from checkin.scan
         where scan.successful group by scan.position order by scan.position`);
      const admitted = visits.flatMap((visit) => visit.admitted).sort((a, b) => a - b);
      expect(new Set(admitted).size).toBe(admitted.length);
      expect(rows.map(({ position }) => Number(position))).toEqual(admitted);
      expect(rows.filter(({ scans }) => Number(scans) !== 1)).toEqual([]);
      process.stdout.write(`${admitted.length} visitors, ${rows.length} in the database\n`);
    } finally {
      await db.close();
    }
  });

  it("leaves nothing after helm uninstall but the pod of its test", async () => {
    await helm.uninstall();
    const kinds =
      "deployments,pods,jobs,services,networkpolicies,poddisruptionbudgets,serviceaccounts,configmaps,horizontalpodautoscalers";
    const ofKubernetes = ["ConfigMap kube-root-ca.crt", "ServiceAccount default"];
    const left = async () => {
      const { items } = await kubernetes.get<{ items: { kind: string; metadata: { name: string } }[] }>(
        ...[kinds, "--namespace", namespace],
      );
      return items
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        .filter((name) => !ofKubernetes.includes(name));
    };
    // Pods end in their own time. That of the test stays, so that its log can be read.
    await expect.poll(left, { timeout: 120_000, interval: 1000 }).toEqual(["Pod tessera-doctor"]);
  });
});
