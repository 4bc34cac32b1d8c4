import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Fault } from "../fault.ts";
import { databaseAnswers, foldOutages } from "./fold-outages.ts";
import { createLog, type LogLevel } from "./log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
const away = () =>
  new Fault("unavailable", "database_unavailable", "the database cannot be reached", { cause: refused });

/** The log of a process, and its lines. */
function openFolded({ level = "info" }: { readonly level?: LogLevel } = {}) {
  const lines: string[] = [];
  const log = foldOutages(createLog({ service: "test", level, destination: { write: (line) => lines.push(line) } }));
  const read = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, read, messages: () => read().map(({ message }) => message) };
}

const begins = "the database is away: further failures by it are counted, and not written";
const ends = "the outage of the database has ended";

it("[Y2.1] an outage is a line at its beginning, one each minute, and one at its end, whoever meets it", () => {
  const { log, lines, read, messages } = openFolded();
  const services = ["checkin", "gateway", "voucher"].map((service) => log.with({ service }));
  for (let second = 0; second < 150; second += 1) {
    for (const service of services) service.error("job failed; it runs again", { job: "sample", error: away() });
    services[0]?.warn("tickets are drawn again", { error: new Error("not drawn", { cause: away() }) });
    vi.advanceTimersByTime(1000);
  }
  services[2]?.info(databaseAnswers);
  vi.advanceTimersByTime(3000);
  services[0]?.info(databaseAnswers);
  vi.advanceTimersByTime(2000);
  expect(messages()).toEqual([begins, "the database is still away", "the database is still away", ends]);
  expect(read()[0]).toMatchObject({
    level: "warn",
    service: "checkin",
    job: "sample",
    met: "job failed; it runs again",
  });
  expect(read()[1]).toMatchObject({ seconds: 60, folded: 240 });
  expect(read()[3]).toMatchObject({ level: "warn", seconds: 150, folded: 599 });
  expect(lines.join("").match(/"stack"/g)).toHaveLength(1);
});

it("[Y2.2] what fails otherwise is written meanwhile, as ever", () => {
  const { log, messages } = openFolded();
  log.warn("request could not be served", { error: away() });
  log.warn("request could not be served", { error: new Fault("timeout", "database_timeout", "too slow") });
  log.error("request failed", { error: refused });
  log.warn("Redis cannot be used");
  log.info("the scan is stored");
  expect(messages()).toEqual([
    begins,
    "request could not be served",
    "request failed",
    "Redis cannot be used",
    "the scan is stored",
  ]);
});

it("[Y2.1] connections that run out by an outage belong to it, and else are written", () => {
  const { log, messages } = openFolded();
  const busy = { error: new Fault("unavailable", "database_busy", "all connections to the database are in use") };
  log.warn("job failed", busy);
  log.warn("rpc", { error: away() });
  log.warn("job failed", busy);
  log.info(databaseAnswers);
  vi.advanceTimersByTime(5000);
  log.warn("job failed", busy);
  expect(messages()).toEqual(["job failed", begins, ends, "job failed"]);
});

it("goes on where some connections are served and others are not, and ends once", () => {
  const { log, messages } = openFolded({ level: "warn" });
  for (let second = 0; second < 30; second += 1) {
    log.warn("rpc", { error: away() });
    log.info(databaseAnswers);
    vi.advanceTimersByTime(1000);
  }
  expect(messages()).toEqual([begins]);
  vi.advanceTimersByTime(4000);
  expect(messages()).toEqual([begins, ends]);
  log.info(databaseAnswers);
  vi.advanceTimersByTime(120_000);
  expect(messages()).toHaveLength(2);
  log.warn("rpc", { error: away() });
  expect(messages()).toEqual([begins, ends, begins]);
});

it("ends after a minute without failures where only peers have met it", () => {
  const { log, read } = openFolded();
  log.warn("rpc", { error: away() });
  vi.advanceTimersByTime(20_000);
  log.warn("rpc", { error: away() });
  vi.advanceTimersByTime(59_999);
  expect(read()).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(read()[1]).toMatchObject({ message: ends, seconds: 20, folded: 1 });
});
