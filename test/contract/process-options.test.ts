import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
const operations = read("docs/operations.md");

/** What “Memory” in docs/operations.md says of the options of Node, and of the variables. */
const [options = ""] = /--max-semi-space-size=\S+ --heap-growing-percent=\S+ --v8-pool-size=\d+/.exec(operations) ?? [];
const [variables = ""] =
  /MALLOC_ARENA_MAX=\S+ MALLOC_MMAP_THRESHOLD_=\S+ MALLOC_TRIM_THRESHOLD_=\d+/.exec(operations) ?? [];

it.each([
  ["package.json", 1],
  ["Dockerfile", 2],
  ["docs/tessera.service", 1],
  ["packages/dev/src/cluster/start-process.ts", 1],
])("%s starts processes with the memory that the documentation says", (path, times) => {
  // One item a line, or all in one.
  const text = read(path)
    .replaceAll(/["',]/g, "")
    .replaceAll(/: (?=\d)/g, "=")
    .replaceAll(/\n\s*(?:\/\/.*\n\s*)?/g, " ");
  for (const wanted of [options, variables]) {
    expect(wanted).not.toBe("");
    expect(text.split(wanted).length - 1, wanted).toBeGreaterThanOrEqual(times);
  }
});

it("[Y5.1] the unit of systemd keeps from the process what it does not need, and leaves what it does", () => {
  const entries = new Map(
    [...read("docs/tessera.service").matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
  const { NoNewPrivileges, ProtectSystem, PrivateDevices, ProtectHome, CapabilityBoundingSet } =
    Object.fromEntries(entries);
  expect([NoNewPrivileges, ProtectSystem, PrivateDevices, ProtectHome, CapabilityBoundingSet]).toEqual([
    "true",
    "strict",
    "true",
    "true",
    "",
  ]);
  for (const what of ["KernelLogs", "KernelModules", "KernelTunables", "ControlGroups", "Clock", "Hostname"])
    expect(entries.get(`Protect${what}`), what).toBe("true");
  // The home folder of the account is the data folder, where a cache would belong to each backup.
  expect([entries.get("CacheDirectory"), entries.get("Environment")]).toEqual(["tessera", "XDG_CACHE_HOME=/var/cache"]);
  // Without netlink a program does not learn the addresses of its machine.
  expect(entries.get("RestrictAddressFamilies")?.split(" ")).toEqual(["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"]);
  // The browser would print without its sandbox, or not at all.
  for (const harmful of [
    "RestrictNamespaces",
    "MemoryDenyWriteExecute",
    "SystemCallFilter",
    "PrivateUsers",
    "RemoveIPC",
  ])
    expect([...entries.keys()], harmful).not.toContain(harmful);
});
