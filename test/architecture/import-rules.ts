import type { IForbiddenRuleType } from "dependency-cruiser";

/** Libraries without I/O, clock or global state. Adding one is a decision, and this is where it is reviewed. */
const pureLibraries = [
  "@bwip-js/node",
  "@2toad/profanity",
  "big.js",
  "json-logic-js",
  "libphonenumber-js",
  "lru-cache",
  "qrcode",
  "temporal-polyfill",
];

const ours = "^(?:packages|services|gateway|protos|test)/";
const service = "^services/([^/]+)/src";
const own = "^services/$1/src";
const values = "^packages/values/";
const admission = "^packages/admission/";
const protos = "^protos/";
/** Code without I/O, clock or state. */
const pure = "^(packages/(?:admission|values)/src|services/[^/]+/src/domain)/";
/** What a service and the gateway may use of other packages. Product code takes nothing from testkit: see below. */
const forServices = "^packages/(?:admission|kit|events|schema|values|records|resources|sent-files|testkit)/|^protos/";
/** What handlers, consumers and jobs of a service share beside its domain: directly in src/, or in a folder named after its subject. */
const loose =
  "(?:(?:backgrounds|capacity|cases|drafts|export|leftovers|printing|uses)/|(?!(?:app|examinations|index|personal-data)\\.))[^/]+\\.ts$";

const downwards =
  "In the gateway imports point down: index, app; routes, middleware; import, upload, body; http; access; store.";

/** Each: a name, the files, all that they may import of ours, and what to do about anything else. */
const directions: readonly (readonly [name: string, from: string, mayImport: readonly string[], remedy: string])[] = [
  ["protos", protos, [protos], "Protos imports nothing of ours."],
  [
    "kit",
    "^packages/kit/",
    ["^packages/(?:kit|values)/", "^protos/topic\\.ts$", "^protos/gen/platform/"],
    "Kit knows no ticket: it imports values, and of protos topic.ts and platform/.",
  ],
  ["values", values, [values], "Values imports nothing of ours."],
  ["admission", admission, [admission, values], "Admission imports values: it runs in a service and on a page alike."],
  [
    "pages",
    "^packages/pages/",
    ["^packages/(?:admission|pages|values)/"],
    "A page imports admission and values: all else it asks the REST API.",
  ],
  ["events", "^packages/events/", ["^packages/(?:events|kit)/", protos], "Events imports kit and protos."],
  ["schema", "^packages/schema/", ["^packages/(?:schema|values)/"], "Schema imports values."],
  [
    "records",
    "^packages/records/",
    ["^packages/(?:records|schema|sent-files|kit|values)/", protos],
    "Records imports schema, sent-files, kit, protos and values.",
  ],
  [
    "resources",
    "^packages/resources/",
    ["^packages/(?:resources|schema)/"],
    "A shared schema is made of what packages/schema offers.",
  ],
  [
    "sent-files",
    "^packages/sent-files/",
    ["^packages/(?:sent-files|kit|values)/"],
    "Sent-files imports kit and values.",
  ],
  [
    "embedded-postgres",
    "^packages/embedded-postgres/",
    ["^packages/(?:embedded-postgres|kit|values)/"],
    "Embedded-postgres imports kit and values.",
  ],
  [
    "engines",
    "^packages/engines/",
    ["^packages/(?:engines|kit|values)/", "^protos/topic\\.ts$", "^protos/gen/google/"],
    "Engines implements ports of kit: it imports kit, values, and of protos topic.ts and google/.",
  ],
  [
    "testkit",
    "^packages/testkit/",
    ["^packages/(?:testkit|embedded-postgres|engines|events|records|kit|values)/", protos],
    "Testkit imports kit, events, protos, values, records, engines and embedded-postgres.",
  ],
  [
    "service",
    `${service}/`,
    [`${own}/`, forServices],
    "A service imports admission, kit, events, protos, values, records, resources and sent-files, and never another service: send a fact, or call its RPC.",
  ],
  [
    "store",
    `${service}/store/`,
    [
      `${own}/(?:domain/|store/|faults\\.ts$)`,
      admission,
      values,
      "^packages/kit/src/(?:pg/|fault\\.ts$)",
      "^packages/events/",
    ],
    "Store imports domain, faults, admission, values, events, kit/pg and kit/fault.",
  ],
  [
    "wire",
    `${service}/wire(?:/|\\.ts$)`,
    [
      `${own}/(?:domain/|store/|records/|faults\\.ts$)`,
      `${own}/wire`,
      "^packages/(?:admission|values|resources)/",
      protos,
      "^packages/schema/src/fields\\.ts$",
      "^packages/kit/src/(?:fault|bus/fact-id)\\.ts$",
    ],
    "Wire imports domain, faults, admission, values, protos, resources, schema/fields, kit/fault, kit/bus/fact-id, and types of store and records.",
  ],
  [
    "handlers",
    `${service}/(handlers|consumers|jobs|rebuilds)/`,
    [`${own}/(?:$2|domain|store|wire|records|rendering)/`, `${own}/${loose}`, forServices],
    "Handlers, consumers, jobs and rebuilds do not import each other: move what they share to domain/, store/ or wire/.",
  ],
  [
    "rendering",
    `${service}/rendering/`,
    [`${own}/(?:rendering|browser|domain)/`, `${own}/${loose}`, forServices],
    "Rendering imports domain and browser.",
  ],
  [
    "browser",
    `${service}/browser/`,
    [`${own}/browser/`, `${own}/domain/drawing/page-style\\.ts$`, `${own}/${loose}`, "^packages/kit/"],
    "The browser knows no ticket: it imports kit, and of domain the style of pages.",
  ],
  [
    "service-records",
    `${service}/records/`,
    [`${own}/(?:records|domain|store|wire)/`, `${own}/${loose}`, forServices],
    "Records import domain, store and wire, never handlers, consumers, jobs or rebuilds.",
  ],
  [
    "service-loose-files",
    `${service}/${loose}`,
    [`${own}/(?:domain|store|wire|rendering)/`, `${own}/${loose}`, forServices],
    "Only index.ts, examinations.ts and personal-data.ts wire; what handlers share imports domain, store, wire and rendering.",
  ],
  ["gateway", "^gateway/", ["^gateway/", forServices], "The gateway calls services through its clients."],
  [
    "gateway-store",
    "^gateway/src/store/",
    [
      "^gateway/src/(?:store/|faults\\.ts$)",
      values,
      "^packages/events/",
      "^packages/kit/src/(?:pg/|(?:fault|waiting/wait-at-most)\\.ts$)",
    ],
    downwards,
  ],
  ["gateway-access", "^gateway/src/access/", ["^gateway/src/(?:access/|store/|faults\\.ts$)", forServices], downwards],
  [
    "gateway-http",
    "^gateway/src/http/",
    ["^gateway/src/(?:http/|access/|(?:faults|placed)\\.ts$)", forServices],
    `${downwards} Http knows no ticket, and no service.`,
  ],
  [
    "gateway-parts",
    "^gateway/src/(body|import|upload|jobs|consumers)/",
    ["^gateway/src/(?:$1|access|http|store|body|import|upload)/", `^gateway/src/${loose}`, forServices],
    downwards,
  ],
  [
    "gateway-middleware",
    "^gateway/src/middleware/",
    ["^gateway/src/(?:middleware|access|body|http|store)/", `^gateway/src/${loose}`, forServices],
    downwards,
  ],
  [
    "gateway-routes",
    "^gateway/src/routes/",
    ["^gateway/src/(?:routes|access|body|http|import|store|upload)/", `^gateway/src/${loose}`, forServices],
    downwards,
  ],
  ["gateway-loose-files", `^gateway/src/${loose}`, [`^gateway/src/${loose}`, forServices], downwards],
];

/** Each: a library or a family of them, the files that may import it, and what the others do. */
const fences: readonly (readonly [library: string, where: string, remedy: string])[] = [
  ["kafkajs", "^packages/engines/src/kafka/client\\.ts$", "Use kit/bus; kafka/client.ts alone knows kafkajs."],
  ["(?:redis|ioredis|@redis)", "^packages/engines/src/cache/redis\\.ts$", "Use kit/cache."],
  ["rate-limiter-flexible", "^packages/engines/src/cache/limiters\\.ts$", "Use kit/cache."],
  ["ajv", "^packages/schema/src/schema\\.ts$", "Use packages/schema."],
  ["@aws-sdk", "^packages/engines/src/files/s3\\.ts$", "Use kit/files."],
  ["@hyzyla/pdfium", "^services/[^/]+/src/rendering/draw-picture\\.ts$", "Use the drawer of pictures in rendering/."],
  [
    "puppeteer",
    "^services/[^/]+/src/browser/chromium\\.ts$",
    "Use the queue in browser/; tests and benchmarks use @tessera/testkit/browser/page-browser.",
  ],
  ["@bwip-js", "^services/[^/]+/src/domain/code-symbol\\.ts$", "Use code-symbol.ts."],
  ["pg", "^packages/kit/src/pg/", "Use kit/pg."],
  ["@?preact", "^packages/pages/src/", "Only pages draw in a browser."],
  ["zxing-wasm", "^packages/pages/src/scan/camera/decode\\.worker\\.ts$", "Use the decoder in camera/decoder.ts."],
  ["idb", "^packages/pages/src/scan/storage\\.ts$", "Use storage.ts."],
  ["@embedded-postgres", "^packages/embedded-postgres/src/", "Use @tessera/embedded-postgres."],
  ["openid-client", "^gateway/src/access/identity-provider\\.ts$", "Use access/identity-provider.ts."],
  ["@?koa", "^gateway/src/", "Only the gateway speaks HTTP to clients."],
  ["(?:@grpc/grpc-js|grpc-health-check)", "^packages/engines/src/grpc/", "Use kit/rpc."],
];

export const importRules: readonly (IForbiddenRuleType & { name: string; comment: string })[] = [
  ...directions.map(([name, path, mayImport, remedy]) => ({
    name,
    comment:
      `${remedy} Move the code to where its imports are allowed, or take what it needs as an argument (CONTRIBUTING.md, Who may import whom).`.trim(),
    from: { path, pathNot: "\\.test\\.ts$|/src/testing/" },
    to: { path: ours, pathNot: [...mayImport] },
  })),
  {
    name: "pure",
    comment: `Domain, admission and values import domain, admission, values, records/validate, types of resources and pure libraries (${pureLibraries.join(", ")}; test/architecture/import-rules.ts lists them). Take the value as an argument.`,
    from: { path: pure, pathNot: "\\.test\\.ts$|/src/testing/" },
    to: {
      pathNot: [
        "^$1/",
        admission,
        values,
        "^packages/records/src/validate\\.ts$",
        "^packages/(?:resources/|schema/src/fields\\.ts$)",
        `(?:^|node_modules/)(?:${pureLibraries.join("|").replaceAll(".", "\\.")})(?:/|$)`,
      ],
    },
  },
  {
    name: "domain-types",
    comment: "Domain knows the types of resources and none of their schemas: wire reads what was sent.",
    from: { path: pure, pathNot: "\\.test\\.ts$" },
    to: { path: "^packages/(?:resources|schema)/", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "wire-types",
    comment:
      "Wire knows the types of store and records and none of their functions: let the handler query, and hand the rows to wire.",
    from: { path: `${service}/wire(?:/|\\.ts$)`, pathNot: "\\.test\\.ts$" },
    to: { path: `${own}/(?:store|records)/`, dependencyTypesNot: ["type-only"] },
  },
  {
    name: "tools",
    comment: "Nothing imports developer tools or tests: no image contains them.",
    from: { pathNot: "^(?:packages/dev|test)/" },
    to: { path: "^(?:packages/dev|test)/" },
  },
  {
    name: "services-by-list",
    comment:
      "Of packages, only the list of services in packages/cli/src/services.ts imports one: let the service offer it in its definition (kit/service.ts), or move what both need to a package.",
    from: { path: "^packages/", pathNot: "^packages/cli/src/services\\.ts$" },
    to: { path: "^services/" },
  },
  {
    name: "testkit-in-tests",
    comment: "Product code takes nothing from testkit or testing/: move what it needs to kit.",
    from: {
      path: ours,
      pathNot: "\\.test\\.ts$|/src/testing/|^(?:packages/(?:dev|testkit)|test)/",
    },
    to: { path: "^packages/testkit/|/src/testing/" },
  },
  {
    name: "embedded-postgres-users",
    comment: "Only the command, developer tools and tests start a database: take its URL.",
    from: { path: ours, pathNot: "\\.test\\.ts$|^(?:packages/(?:cli|dev|testkit|embedded-postgres)|test)/" },
    to: { path: "^packages/embedded-postgres/" },
  },
  {
    name: "engines-users",
    comment:
      "Only the command, developer tools and tests choose engines: take kit's bus, cache, files, transport or tracing.",
    from: { path: ours, pathNot: "\\.test\\.ts$|/src/testing/|^(?:packages/(?:cli|dev|testkit|engines)|test)/" },
    to: { path: "^packages/engines/" },
  },
  {
    name: "pages-users",
    comment: "Nothing imports a page: the gateway serves what was built of it.",
    from: { path: ours, pathNot: "^packages/pages/" },
    to: { path: "^packages/pages/" },
  },
  {
    name: "packages-by-name",
    comment: "A relative import stays inside its package: import the other one as @tessera/<name>.",
    from: { path: "^((?:packages|services)/[^/]+|gateway|protos|test)/" },
    to: { path: ours, pathNot: "^$1/", dependencyTypes: ["local"] },
  },
  {
    name: "circular",
    comment:
      "Files that import each other in a circle, even for types alone, share something: move it to a file of its own.",
    from: { path: ours, pathNot: "\\.test\\.ts$" },
    to: { circular: true },
  },
  {
    name: "resolvable",
    comment: "Such a module does not exist here: correct its name, or add its package to the package.json beside.",
    from: {},
    // Vite makes an address of what ends with `?url`.
    to: { couldNotResolve: true, pathNot: "\\?url$" },
  },
  {
    name: "child_process",
    comment: "Only the embedded database, the browser, the engines of tests and developer tools start programs.",
    from: {
      path: ours,
      pathNot:
        "\\.test\\.ts$|^test/|^packages/(?:embedded-postgres/src|dev/src|testkit/src/engines)/|^services/[^/]+/src/browser/",
    },
    to: { path: "^child_process$" },
  },
  {
    name: "worker_threads",
    comment: "Use kit/threads: it limits how long a thread works, and replaces one that has ended.",
    from: { path: ours, pathNot: "\\.test\\.ts$|^packages/kit/src/threads/" },
    to: { path: "^worker_threads$" },
  },
  ...fences.map(([library, where, remedy]) => ({
    name: `fence: ${library.replaceAll(/\(\?:|\)/g, "")}`,
    comment: remedy,
    from: { path: ours, pathNot: `\\.test\\.ts$|^test/|^packages/testkit/|${where}` },
    to: { path: `(?:^|node_modules/)${library}(?:[-/]|$)` },
  })),
];
