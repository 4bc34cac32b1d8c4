import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@tessera/kit/pg/sql";
import { findFonts, readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useInstalled } from "../e2e/run-platform.ts";
import { listData, operatorKey, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { stopSharedPlatform } from "../e2e/test-platform.ts";
import { openAsAdministrator } from "../failure/fact-ledger.ts";
import { buildImages, findInImage, inspectImage, readInImage, rebuildImages, targets } from "./build-images.ts";
import { followLogs } from "./follow-logs.ts";
import { nodes } from "./node-agents.ts";
import { type OutsideEngines, startOutsideEngines } from "./outside-engines.ts";
import { applyCustomResources, renderForServer } from "./published-objects.ts";
import { helmOf, namespace, prepareNamespace, publicUrl, type Wanted } from "./release.ts";
import { openGates, openReaders, secretOf, type Visit, type VisitOptions } from "./scans-through-service.ts";
import { type Kubernetes, startKubernetes } from "./start-kubernetes.ts";
// They run first, on the release as it was installed.
import "../e2e/gate.e2e.test.ts";
import "../e2e/journey.e2e.test.ts";
import "../e2e/offline-sales.e2e.test.ts";
import "../e2e/repeated-requests.e2e.test.ts";

const builds = { first: "build-1", second: "build-2" } as const;
const mostBytes = { tessera: 180_000_000, chromium: 480_000_000 } as const;
const names = { tessera: "tessera", chromium: "tessera-chromium" } as const;
const tickets = 80_000;
const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("doors");

/** At most forty scans a second. */
const usualLoad = { gates: 4, pauseMs: 100 };
const first: Wanted = { tag: builds.first, replicas: { gateway: 2 } };

const manyScripts = "Ελληνικά Кириллица עברית العربية हिन्दी ไทย ქართული বাংলা தமிழ் 中文 日本語 한국어 🎫🎉";
const fontsOfScripts = [
  ...[
    "NotoColorEmoji",
    "NotoSans-Regular",
    "NotoSansArabic-Regular",
    "NotoSansBengali-Regular",
    "NotoSansGeorgian-Regular",
  ],
  // Of one file with all weights the lightest gives the name.
  ...["NotoSansKR-Thin", "NotoSansTamil-Regular", "NotoSansThai-Regular", "OpenSans-Regular"],
];

let kubernetes: Kubernetes;
let engines: OutsideEngines;
let helm: ReturnType<typeof helmOf>;
let baseUrl = "";
let installed = "";
const visits: Visit[] = [];
const undo: (() => Promise<unknown>)[] = [];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function timed<T>(what: string, act: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await act();
  say(`${what}: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  return result;
}

beforeAll(async () => {
  await timed("images built", async () => {
    await buildImages(builds.first);
    await rebuildImages(builds.first, builds.second);
  });
  kubernetes = await timed("cluster started", startKubernetes);
  undo.push(() => kubernetes.stop());
  engines = await timed("engines started", startOutsideEngines);
  undo.push(() => engines.stop());
  await timed("images loaded", async () => {
    for (const name of Object.values(targets))
      for (const tag of Object.values(builds)) await kubernetes.importImage(`${name}:${tag}`);
  });
  await prepareNamespace(kubernetes, engines);
  helm = helmOf(kubernetes);
  installed = await timed("chart installed", () => helm.install(engines, first));
  const { spec } = await kubernetes.get<{ spec: { clusterIP: string } }>(
    ...["service", "tessera-gateway-http", "--namespace", namespace],
  );
  baseUrl = `http://${spec.clusterIP}`;
  useInstalled({
    databaseUrl: engines.ownDatabaseUrl,
    async follow({ onLogLine }) {
      const following = followLogs(kubernetes, {
        namespace,
        selector: "app.kubernetes.io/instance=tessera",
        onLogLine,
      });
      return { baseUrls: [baseUrl], publicUrl, stop: () => following.stop() };
    },
  });
});
afterAll(async () => {
  await stopSharedPlatform();
  for (const step of undo.splice(0).reverse()) await step();
});

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
}

/** The pods of services that are not about to end. */
async function pods(component?: string): Promise<Pod[]> {
  const selector = component === undefined ? [] : ["--selector", `app.kubernetes.io/component=${component}`];
  const { items } = await kubernetes.get<{ items: Pod[] }>("pods", "--namespace", namespace, ...selector);
  return items.filter(
    ({ metadata }) =>
      metadata.deletionTimestamp === undefined && metadata.labels["app.kubernetes.io/component"] !== "doctor",
  );
}

const inNamespace = (...args: readonly string[]) => kubernetes.kubectl(...args, "--namespace", namespace);
const untilAvailable = () => inNamespace("wait", "--for=condition=Available", "deployment", "--all", "--timeout=600s");

/** Visitors come while something happens, and for some seconds before and after it. */
async function whileVisitorsCome(
  what: string,
  act: () => Promise<unknown>,
  { repeatForMs = 0, ...load }: Partial<VisitOptions> = {},
): Promise<Visit> {
  const gates = openGates({ baseUrl, tickets, ...usualLoad, ...load, repeatForMs });
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
  say(
    `${what}: ${visit.admitted.length} scans in ${seconds.toFixed(0)} s, ${visit.failures.length} failures, slowest ${visit.slowestMs} ms`,
  );
  return visit;
}

describe("the images", () => {
  it.each(["tessera", "chromium"] as const)(
    "%s is small, without a package manager, and not root's",
    async (target) => {
      const { user, labels, packedBytes } = await inspectImage(target, builds.first);
      say(`${targets[target]}: ${(packedBytes / 1e6).toFixed(0)} MB packed`);
      expect(user).toBe("10001:10001");
      expect(labels).toMatchObject({
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": builds.first,
        "org.opencontainers.image.version": "0.1.0",
      });
      const managers = ["apt", "apt-get", "dpkg", "npm", "npx", "yarn", "pnpm", "corepack"];
      const patterns = managers.map((name) => `*/bin/${name}`);
      expect(await findInImage(target, builds.first, patterns)).toEqual([]);
      expect(packedBytes).toBeLessThan(mostBytes[target]);
    },
  );

  it.each(["tessera", "chromium"] as const)("%s lists what it is made of, and nothing else", async (target) => {
    const bom = JSON.parse(await readInImage(target, builds.first, `/usr/share/sbom/${names[target]}.cdx.json`)) as {
      readonly metadata: object;
      readonly components: readonly { name: string; version: string; purl: string }[];
    };
    expect(bom.metadata).toMatchObject({ component: { name: names[target], version: "0.1.0" } });
    const listed = (kind: string) =>
      bom.components.filter(({ purl }) => purl.startsWith(`pkg:${kind}/`)).map(({ name }) => name);
    const found = await findInImage(target, builds.first, [
      "/opt/tessera/node_modules/.pnpm/*/node_modules/*/package.json",
    ]);
    const packages = found.flatMap((path) => {
      const [, name = ""] = /\.pnpm\/[^/]+\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path) ?? [];
      return name === "" || name.startsWith("@tessera/") ? [] : [name];
    });
    const lists = await findInImage(target, builds.first, [
      "/opt/tessera/node_modules/.pnpm/*/node_modules/@tessera/pages/dist/*/bundled.json",
    ]);
    const bundled: { readonly name: string; readonly version?: string }[] = [];
    for (const path of lists) bundled.push(...JSON.parse(await readInImage(target, builds.first, path)));
    expect(bundled.length).toBeGreaterThan(5);
    const inPages = bundled.flatMap(({ name, version }) => (version === undefined ? [] : [name]));
    expect([...new Set(listed("npm"))].sort()).toEqual([...new Set([...packages, ...inPages])].sort());
    expect(listed("generic")).toEqual(expect.arrayContaining(["node", "zxing-cpp"]));
    const status = await readInImage(target, builds.first, "/var/lib/dpkg/status");
    expect(listed("deb").length).toBe(status.match(/^Status: install ok installed$/gm)?.length);
    expect(listed("deb")).toEqual(expect.arrayContaining(["ca-certificates", "libc6", "tini"]));
    expect(listed("deb").includes("chromium-headless-shell")).toBe(target === "chromium");
    expect(bom.components).toContainEqual(
      expect.objectContaining({ purl: `pkg:generic/node@${process.versions.node}` }),
    );
    say(`${names[target]}: ${bom.components.length} components`);
  });
});

describe("a release in a namespace that enforces the Pod Security Standard restricted", () => {
  it("is installed, and every pod is ready", async () => {
    expect(installed).toContain("STATUS: deployed");
    expect(installed).not.toContain("would violate PodSecurity");
    expect(await pods()).toHaveLength(8);
  });

  it("finds nothing wrong with itself", async () => {
    const examine = () => timed("helm test", () => helm.test().catch(String));
    // A machine that others use, too, may be too slow for it for a while.
    await expect.poll(examine, { timeout: 900_000 }).toMatch(/Phase:\s+Succeeded/);
  });

  it("uses Redis, over TLS alone", async () => {
    expect(await engines.redis("CLIENT", "LIST")).toMatch(/ addr=10\.244\.0\.\d+:/);
  });

  it("has no warning from the server, with every kind of object that the chart makes", async () => {
    await applyCustomResources(kubernetes);
    const kinds = await renderForServer(kubernetes, "full");
    expect(kinds).toEqual(
      expect.arrayContaining(["ScaledObject", "ServiceMonitor", "PrometheusRule", "HTTPRoute", "Ingress"]),
    );
  });

  it("imports records, and admits a visitor once", async () => {
    const send = async (part: readonly unknown[]) => {
      const answer = await fetch(`${baseUrl}/api/v1/import/`, {
        method: "POST",
        headers: { authorization: `Token ${operatorKey}`, "content-type": "application/x-ndjson" },
        body: part.map((record) => JSON.stringify(record)).join("\n"),
      });
      expect(await answer.json()).toMatchObject({ rejected: 0 });
    };
    const orders = Array.from({ length: tickets }, (_, index) => {
      const id = index + 1;
      const position = positionData({ id, secret: secretOf(id), pseudonymization_id: `P${id}` });
      return ofEvent("order", orderData({ code: `T${id}`, positions: [position] }));
    });
    const text = {
      ...{ type: "textarea", left: 20, width: 150, fontsize: 12, downward: true },
      ...{ fontfamily: "Open Sans", bold: false, italic: false, align: "left", color: [0, 0, 0] },
    };
    const layout = [
      { ...text, bottom: 250, content: "attendee_name" },
      { ...text, bottom: 230, content: "other", text: manyScripts },
      { type: "barcodearea", left: 100, bottom: 100, size: 50 },
    ];
    const records = [
      ...groundwork(),
      ofEvent("event_settings", { locale: "en", ticket_download: true }),
      ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout }),
      ofEvent("checkin_list", listData()),
      ...orders,
    ];
    await timed(`${tickets} orders imported`, async () => {
      for (let from = 0; from < records.length; from += 10_000) await send(records.slice(from, from + 10_000));
    });
    const visit = await whileVisitorsCome("a quiet minute", () => sleep(5000));
    expect(visit.failures).toEqual([]);
  });

  it("renders a ticket with a browser in its sandbox, and has the fonts of every script", async () => {
    const headers = { authorization: `Token ${apiKey}` };
    const path = `${baseUrl}${eventPath}/orderpositions/${tickets}/download/pdf/`;
    let pdf = await fetch(path, { headers });
    for (const until = Date.now() + 120_000; pdf.status === 409 && Date.now() < until; await sleep(300)) {
      pdf = await fetch(path, { headers });
    }
    expect([pdf.status, pdf.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    const bytes = Buffer.from(await pdf.arrayBuffer());
    const { pages } = await readPdf(bytes);
    expect(pages.map(({ texts }) => texts.map(({ text }) => text).join(" "))).toEqual([
      expect.stringContaining("Peter Zwiebelhuber"),
    ]);
    expect(findFonts(bytes)).toEqual(expect.arrayContaining(fontsOfScripts));
    const [printer] = await pods("layout-and-render");
    const log = await inNamespace("logs", printer?.metadata.name ?? "");
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
    expect(await imagesInUse()).toEqual(imagesOf(builds.second));
  });

  it("is rolled back, and no request fails", async () => {
    const { failures } = await whileVisitorsCome("rollback", () => helm.rollback(2));
    expect(failures).toEqual([]);
    expect(await imagesInUse()).toEqual(imagesOf(builds.first));
  });

  const imagesOf = (tag: string) =>
    Object.values(targets)
      .map((name) => `${name}:${tag}`)
      .sort();

  async function imagesInUse(): Promise<string[]> {
    const { items } = await kubernetes.get<{
      items: { spec: { template: { spec: { containers: { image: string }[] } } } }[];
    }>("deployments", "--namespace", namespace);
    return [...new Set(items.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image)))].sort();
  }

  it("lives through the drain of the node with all gateways and check-ins, and no request fails", async () => {
    const two = { tag: builds.first, replicas: { gateway: 2, checkin: 2 } };
    const [other, drained] = [nodes[0].name, nodes[1].name];
    await helm.install(engines, two);
    const placed = async () =>
      [...(await pods("gateway")), ...(await pods("checkin"))].map(({ spec }) => spec.nodeName);
    const { failures } = await whileVisitorsCome("drain of a node", async () => {
      await kubernetes.kubectl("cordon", other);
      await inNamespace("rollout", "restart", "deployment/tessera-gateway", "deployment/tessera-checkin");
      for (const name of ["gateway", "checkin"])
        await inNamespace("rollout", "status", `deployment/tessera-${name}`, "--timeout=600s");
      await kubernetes.kubectl("uncordon", other);
      expect(await placed()).toEqual([drained, drained, drained, drained]);
      await timed("drained", () => kubernetes.kubectl("drain", drained, "--delete-emptydir-data", "--timeout=900s"));
      await untilAvailable();
      expect(await placed()).toEqual([other, other, other, other]);
      await kubernetes.kubectl("uncordon", drained);
    });
    expect(failures).toEqual([]);
    expect((await pods()).filter(({ spec }) => spec.nodeName === drained)).toEqual([]);
  });

  it("follows the use of processors: gateways 1 → 6 → 1, check-ins 1 → 3 → 1, and no request fails", async () => {
    const scaled = { gateway: { from: 1, to: 6, requested: 50 }, checkin: { from: 1, to: 3, requested: 50 } };
    /** What each pod uses, in thousandths of a processor. A machine may have no room for a crowd that needs six. */
    const use = (thousandths: number) => {
      for (const component of Object.keys(scaled)) kubernetes.metrics.set(component, thousandths);
    };
    const few = { gates: 1, pauseMs: 1000 };
    const numbers = async () => [(await pods("gateway")).length, (await pods("checkin")).length];
    const until = async (wanted: readonly number[]) => {
      await expect.poll(numbers, { timeout: 600_000, interval: 2000 }).toEqual(wanted);
      await untilAvailable();
    };
    const read: { readonly answers: number; readonly failures: readonly string[] }[] = [];
    const visited = [
      await whileVisitorsCome(
        "autoscalers begin",
        async () => {
          use(5);
          await helm.install(engines, { tag: builds.first, scaled });
          await timed("one of each", () => until([1, 1]));
        },
        few,
      ),
      await whileVisitorsCome(
        "a crowd",
        async () => {
          const crowd = openReaders({ baseUrl, readers: 24 });
          use(100);
          try {
            await timed("six gateways, three check-ins", () => until([6, 3]));
          } finally {
            read.push(await crowd.finish());
          }
        },
        { gates: 16, pauseMs: 40 },
      ),
      await whileVisitorsCome(
        "the crowd is in",
        async () => {
          use(5);
          await timed("one of each", () => until([1, 1]));
        },
        few,
      ),
    ];
    say(`the crowd read ${read[0]?.answers} pages, ${read[0]?.failures.length} failures`);
    expect([...visited, ...read].flatMap(({ failures }) => failures)).toEqual([]);
  });

  it("loses no scan when every pod is killed once", async () => {
    // The number of pods is still an autoscaler's, which may set it once more before it ends.
    for (const _ of ["take it back", "set it"])
      await helm.install(engines, { tag: builds.first, replicas: { gateway: 2, checkin: 2 } }, "--force-conflicts");
    expect([(await pods("gateway")).length, (await pods("checkin")).length]).toEqual([2, 2]);
    const { admitted, failures, lost } = await whileVisitorsCome(
      "every pod killed",
      async () => {
        for (const { metadata } of await pods()) {
          await inNamespace("delete", "pod", metadata.name, "--grace-period=0", "--force");
          await sleep(4000);
        }
        await untilAvailable();
      },
      { repeatForMs: 120_000 },
    );
    expect(lost).toEqual([]);
    say(`answers that had to be repeated: ${failures.length}, such as ${JSON.stringify(failures.slice(0, 5))}`);
    expect(admitted.length).toBeGreaterThan(0);
  });

  it("has every admitted visitor in its database, and none twice", async () => {
    const db = openAsAdministrator(engines.ownDatabaseUrl);
    try {
      const rows = await db.many<{ position: number; scans: number }>(sql`
        select scan.position, count(*) as scans from checkin.scan
         where scan.organizer = ${"doors"} and scan.successful group by scan.position order by scan.position`);
      const admitted = visits.flatMap((visit) => visit.admitted).sort((a, b) => a - b);
      expect(new Set(admitted).size).toBe(admitted.length);
      expect(rows.map(({ position }) => Number(position))).toEqual(admitted);
      expect(rows.filter(({ scans }) => Number(scans) !== 1)).toEqual([]);
      say(`${admitted.length} visitors, ${rows.length} in the database`);
    } finally {
      await db.close();
    }
  });

  it("leaves nothing after helm uninstall but the pod of its test", async () => {
    await stopSharedPlatform();
    await helm.uninstall();
    const kinds = (await kubernetes.kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name"))
      .split("\n")
      .filter((kind) => kind !== "" && !kind.startsWith("events") && !kind.endsWith("metrics.k8s.io"));
    // What was there before, and what Kubernetes makes in every namespace.
    const others = ["ConfigMap kube-root-ca.crt", "ServiceAccount default"];
    const left = async () => {
      const { items } = await kubernetes.get<{ items: { kind: string; metadata: { name: string } }[] }>(
        ...[kinds.join(","), "--namespace", namespace],
      );
      return items
        .filter(({ kind, metadata }) => kind !== "Secret" || metadata.name.startsWith("sh.helm"))
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        .filter((name) => !others.includes(name));
    };
    // Pods end in their own time. That of the test stays, so that its log can be read.
    await expect.poll(left, { timeout: 240_000, interval: 2000 }).toEqual(["Pod tessera-doctor"]);
  });
});
