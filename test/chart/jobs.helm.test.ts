import { expect, it } from "vitest";
import { ofKind, renderChart } from "./render-chart.ts";

it("schemas and topics are brought up to date before the pods of a release", async () => {
  const jobs = ofKind("Job", await renderChart("minimal"));
  expect([...jobs.keys()].sort()).toEqual(["migrate", "topics"]);
  for (const [name, { metadata, spec }] of jobs) {
    expect(metadata.name).toBe(`tessera-${name}`);
    // Helm does not uninstall a hook; one that failed stays to be read.
    expect(metadata.annotations).toMatchObject({
      "helm.sh/hook": "pre-install,pre-upgrade",
      "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    });
    expect(spec.template.spec.restartPolicy).toBe("Never");
  }
  expect(jobs.get("migrate")?.spec.template.spec.containers[0].args).toEqual(["migrate", "all"]);
  expect(jobs.get("topics")?.spec.template.spec.containers[0].args).toEqual(["topics", "apply"]);
});

it("the administrator's string is in no other pod", async () => {
  const manifests = await renderChart("full");
  const migrate = ofKind("Job", manifests).get("migrate");
  expect(migrate?.spec.template.spec.containers[0].env).toEqual([
    {
      name: "DATABASE_URL",
      valueFrom: { secretKeyRef: { name: "tessera-postgres-admin", key: "migrate" } },
    },
  ]);
  const others = manifests.filter(({ kind, metadata }) => kind !== "Job" || metadata.name !== "tessera-migrate");
  expect(JSON.stringify(others)).not.toContain("tessera-postgres-admin");
});

it("an ordinary Job has a new name when it would run something else, and only then", async () => {
  const namesWith = async (values: object) =>
    [...ofKind("Job", await renderChart("gitops", { values })).values()].map(({ metadata }) => metadata.name).sort();
  const names = await namesWith({});
  expect(names).toEqual([
    expect.stringMatching(/^tessera-migrate-\w{8}$/),
    expect.stringMatching(/^tessera-topics-\w{8}$/),
  ]);
  expect(await namesWith({ services: { voucher: { replicas: 5 } } })).toEqual(names);
  const changes = [
    { image: { tag: "0.2.0" } },
    { image: { pullPolicy: "Always" } },
    { image: { pullSecrets: ["registry"] } },
    { commonLabels: { team: "gates" } },
    {
      topics: { resources: { limits: { memory: "200Mi" } } },
      migrations: { resources: { limits: { memory: "200Mi" } } },
    },
  ];
  for (const values of changes) {
    const changed = await namesWith(values);
    expect(
      changed.filter((name) => names.includes(name)),
      JSON.stringify(values),
    ).toEqual([]);
  }
});

it("an ordinary Job is no hook, keeps its annotations and is removed in the end", async () => {
  const migrate = ofKind("Job", await renderChart("gitops")).get("migrate");
  expect(migrate?.metadata.annotations).toEqual({ "argocd.argoproj.io/sync-wave": "-1" });
  expect(migrate?.spec.ttlSecondsAfterFinished).toBe(86_400);
});

it("every pod that `tessera topics` may run in wants as many copies of topics as the Job", async () => {
  const manifests = await renderChart("gitops");
  const topics = ofKind("Job", manifests).get("topics");
  const pods = [topics, ...ofKind("Deployment", manifests).values()].map((each) => each?.spec.template.spec);
  expect(pods.length).toBe(7);
  for (const pod of pods) {
    expect(pod.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: "KAFKA_REPLICATION_FACTOR", value: "3" },
        { name: "KAFKA_MIN_IN_SYNC_REPLICAS", value: "2" },
      ]),
    );
  }
});

it("there is no Job where others run the commands", async () => {
  const values = { migrations: { kind: "none" }, topics: { kind: "none" } };
  expect(ofKind("Job", await renderChart("minimal", { values })).size).toBe(0);
});
