import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { simulate } from "./simulate.ts";

const taken = {
  records: 1,
  accepted: 1,
  rejected: 0,
  kinds: {},
  errors: [],
  warned: 0,
  warnings: [],
  ignored: [],
  settled: true,
};

const listeners = (["SIGHUP", "SIGINT", "SIGTERM"] as const).map((name) => [name, process.listeners(name)] as const);

let server: Server;
let imports: string[];
let settled: boolean;
let admitted: Set<string>;
/** Replaces the answer to the first scan. */
let first: ((response: ServerResponse) => void) | undefined;
let count: (response: ServerResponse) => void;
let printed: { stdout: string; stderr: string };

beforeEach(async () => {
  imports = [];
  settled = true;
  admitted = new Set();
  first = undefined;
  count = (response) => answer(response, 200, { checkin_count: admitted.size });
  printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    vi.spyOn(process[name], "write").mockImplementation((chunk) => {
      printed[name] += String(chunk);
      return true;
    });
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const path = request.url ?? "";
      if (path.startsWith("/api/v1/import/")) {
        imports.push(body);
        answer(response, 200, { ...taken, settled });
      } else if (path.endsWith("/signinlinks/"))
        answer(response, 201, { link: "https://tickets.example/board/#link=x" });
      else if (path.endsWith("/status/")) count(response);
      else scan(response, path.split("/").at(-3) ?? "");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => {
  // The exit code is that of the command, not of the tests.
  process.exitCode = undefined;
  for (const [name, before] of listeners)
    for (const listener of process.listeners(name)) if (!before.includes(listener)) process.off(name, listener);
  server.closeAllConnections();
  server.close();
});

function answer(response: ServerResponse, status: number, body: object | string): void {
  response.writeHead(status, { "retry-after": "0" });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function scan(response: ServerResponse, code: string): void {
  const other = first;
  first = undefined;
  if (other !== undefined) other(response);
  else if (code.includes("-other-")) answer(response, 404, { status: "error", reason: "invalid" });
  else if (admitted.has(code)) answer(response, 200, { status: "error", reason: "already_redeemed" });
  else {
    admitted.add(code);
    answer(response, 201, { status: "ok" });
  }
}

/** Lets the time that a count may take pass with its first question. */
function countOnce(): void {
  let passedMs = 0;
  const [now, ask] = [performance.now.bind(performance), fetch];
  vi.spyOn(performance, "now").mockImplementation(() => now() + passedMs);
  vi.spyOn(globalThis, "fetch").mockImplementation((address, options) => {
    if (new Request(address).url.endsWith("/status/")) passedMs += 10_000;
    return ask(address, options);
  });
}

async function run(...args: string[]): Promise<typeof process.exitCode> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await simulate(["--url", url, "--key", "operator", "--minutes", "0.05", "--arrivals", "36000", ...args]);
  return process.exitCode;
}

it("a page of a proxy asks to try again; a page or no object is wrong where an answer belongs, and is no count", async () => {
  first = (response) => {
    answer(response, 502, "<html>");
    first = (second) => {
      answer(second, 200, "null");
      first = (third) => answer(third, 200, "<html>");
    };
  };
  count = (response) => answer(response, 200, "<html>");
  countOnce();
  expect(await run()).toBe(1);
  expect(printed.stdout).toMatch(/sent again +1 status 502 without JSON\n/);
  expect(printed.stdout).toMatch(/wrong answers +2 status 200 without JSON +0\n/);
  expect(printed.stdout).toMatch(/counted by the list +no answer/);
});

it("a platform that dies: says what gates have seen, and how to remove what stays", async () => {
  first = (response) => {
    server.close();
    response.destroy();
    server.closeAllConnections();
  };
  countOnce();
  // So many gates that one has hardly two visitors, each of whom takes five seconds.
  expect(await run("--gates", "200", "--arrivals", "12000")).toBe(1);
  expect(printed.stdout).toMatch(/visitors admitted, refused +0, 0\n/);
  expect(printed.stdout).toMatch(/without an answer +[1-9]\d* +0\n/);
  expect(printed.stdout).toContain("It does not hold.");
  const organizer = /"slug":"(simulation-\w+)"/.exec(imports[0] ?? "")?.[1];
  expect(printed.stderr).toMatch(new RegExp(`warning: the organizer ${organizer} stays: .*ECONNREFUSED`));
  expect(printed.stderr).toContain(`"organizer":"${organizer}","deleted":true`);
});

it("prints a link that opens its board, where gates have names", async () => {
  first = (response) => {
    process.emit("SIGINT");
    scan(response, "first");
  };
  await run("--gates", "2");
  expect(printed.stderr).toContain("Watch it: https://tickets.example/board/#link=x\n");
  const groundwork = imports[0] ?? "";
  expect(groundwork).toContain('"kind":"gate"');
  expect(groundwork).toContain('"name":"Gate 2","gate":2');
});

it("opens no gates before every service knows the tickets", async () => {
  settled = false;
  await expect(run()).rejects.toThrow("the platform has not caught up with the simulated tickets; try again when");
  expect(admitted.size).toBe(0);
  expect(imports.at(-1)).toContain('"deleted":true');
});

it("a stop before its end is said, and is no success", async () => {
  first = (response) => {
    answer(response, 201, { status: "ok" });
    process.emit("SIGINT");
  };
  count = (response) => answer(response, 200, { checkin_count: 1 });
  expect(await run("--gates", "1", "--minutes", "10")).toBe(1);
  expect(printed.stdout).toMatch(/It was stopped before its end, and (?:held|did not hold) until then\.\n$/);
  expect(imports.at(-1)).toContain('"deleted":true');
});
