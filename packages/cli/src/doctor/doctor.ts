import { Fault } from "@tessera/kit/fault";
import { readOptions } from "../command/options.ts";
import { fault } from "../faults.ts";
import { requireServices, services } from "../services.ts";
import { diagnose } from "./diagnose.ts";
import { isUnwell, renderJson, renderText } from "./render.ts";
import { findPlatformKey, readPlatformKey, verifyCertificate } from "./verify-certificate.ts";

const usage = `tessera doctor [all | NAME…]  [OPTIONS]

Prints what is wrong with configuration, database, bus, facts, cache, files, clocks and processes, and how to mend it. It
reads the settings that \`tessera serve\` would read for the same names (${Object.keys(services).join(", ")}; without one: all),
changes nothing, and prints no secret. Exit status: 0 nothing is wrong, 1 something is, 2 the command is used wrongly.`;

const options = {
  "database-url": { type: "string", value: "URL", help: "the database (default DATABASE_URL)" },
  data: {
    type: "string",
    value: "DIR",
    help: "the data folder of a `tessera serve all` that has to run (default .tessera, where none need run)",
  },
  health: {
    type: "string",
    value: "URL,…",
    help: "operations ports of running processes, as http://host:9090 (default: those of the data folder's platform, else METRICS_PORT on this machine)",
  },
  timeout: { type: "string", value: "SECONDS", default: "12", help: "limit of each examination (default 12)" },
  json: { type: "boolean", default: false, help: "print findings as JSON" },
  certificate: { type: "string", value: "FILE", help: "check the certificate of an erasure, and nothing else" },
  key: {
    type: "string",
    value: "FILE",
    help: "the public key of certificates, as /api/v1/shredders/key/ answers it (default: that of the database)",
  },
} as const;

/** Prints what is wrong and how to mend it. */
export async function doctor(args: string[]): Promise<void> {
  try {
    await examine(args);
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== "invalid") throw error;
    process.stderr.write(`tessera: ${error.message}\n`);
    process.exitCode = 2;
  }
}

async function examine(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { data, timeout, json, certificate, key, ...values } = read.values;
  const names = read.names.length === 0 ? ["all"] : read.names;
  // Wrong usage is reported before anything is examined.
  requireServices(names);
  const health = (values.health ?? "").split(",").flatMap((url) => (url.trim() === "" ? [] : [url.trim()]));
  if (!health.every((url) => /^https?:\/\/./.test(url) && URL.canParse(url)))
    throw fault("bad_url", "--health takes addresses such as http://localhost:9090");
  if (!/^(?!0+$)\d{1,3}$/.test(timeout)) throw fault("bad_timeout", "--timeout takes whole seconds from 1 to 999");
  const environment = { ...process.env, DATABASE_URL: values["database-url"] ?? process.env["DATABASE_URL"] };
  const question = { names, environment, data: data ?? ".tessera", isDataNamed: data !== undefined, health };
  if (certificate !== undefined) {
    const platform = key === undefined ? await findPlatformKey(question) : await readPlatformKey(key);
    const { isGood, lines } = await verifyCertificate(certificate, platform);
    process.exitCode = isGood ? 0 : 1;
    process.stdout.write(`${lines.join("\n")}\n`);
    return;
  }
  const findings = await diagnose(question, { limitMs: Number(timeout) * 1000 });
  process.exitCode = isUnwell(findings) ? 1 : 0;
  const colored = process.stdout.isTTY === true && !process.env["NO_COLOR"];
  process.stdout.write(json ? renderJson(findings) : renderText(findings, { colored }));
}
