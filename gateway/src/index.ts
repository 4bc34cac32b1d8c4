import { readFileSync } from "node:fs";
import { hasPassed } from "@tessera/kit/bus/markers";
import { currentContext } from "@tessera/kit/context";
import { defineService } from "@tessera/kit/service";
import { poll } from "@tessera/kit/waiting/poll";
import { listenForChanges } from "./access/change-notice.ts";
import { openDirectory } from "./access/directory.ts";
import { openIdentityProvider } from "./access/identity-provider.ts";
import { deriveToken, makeToken } from "./access/make-token.ts";
import { readProvider } from "./access/read-provider.ts";
import { DeviceContacts } from "./access/remember-contacts.ts";
import { openSessions } from "./access/sessions.ts";
import { buildApp } from "./app.ts";
import { clients as callable } from "./clients.ts";
import { settings } from "./config.ts";
import { answersGiven } from "./consumers/answers-given.ts";
import { credentialChanged } from "./consumers/credential-changed.ts";
import { eventChanged } from "./consumers/event-changed.ts";
import { recordFed } from "./consumers/record-fed.ts";
import { httpServer } from "./http/server.ts";
import { factReaders } from "./import/fact-readers.ts";
import type { ImportTargets } from "./import/import-stream.ts";
import { recordOwners } from "./import/owners.ts";
import { deleteKeptAnswers } from "./jobs/delete-kept-answers.ts";
import { deleteEndedSessions } from "./jobs/delete-sessions.ts";
import { type FullCallers, findFull } from "./jobs/find-full-callers.ts";
import { measureDevices } from "./jobs/measure-devices.ts";
import { removeExpiredUploads, removeUnrecordedUploads } from "./jobs/remove-uploads.ts";
import { storeDeviceContacts } from "./jobs/store-contacts.ts";
import { tellQueues } from "./jobs/tell-queues.ts";
import { endClaims } from "./middleware/end-claims.ts";
import { personalData } from "./personal-data.ts";
import { allRoutes } from "./routes/index.ts";
import { findByHash, findDeviceNames, isAsNewAs } from "./store/credentials.ts";
import { findContacts, findHeardDevices } from "./store/device-contacts.ts";
import { findEvents, hasEvent } from "./store/events.ts";
import { claimRequest, findAnswer, findRequest, keepAnswer, releaseRequest } from "./store/kept-answers.ts";
import { addWarnings } from "./store/record-warnings.ts";
import { findSession } from "./store/session-rows.ts";
import { countOutstanding, expireDropped, insertUpload } from "./store/uploads.ts";
import { waitForDatabase } from "./store/wait-for-database.ts";
import { ownerOf, uploadFinder } from "./upload/find-uploads.ts";

const name = "gateway";
const consumers = [credentialChanged, eventChanged, answersGiven, recordFed, personalData.consumer];
const consumes = consumers.map(({ topic }) => topic);

/** The timeout of a whole body; imports are limited by their pauses instead. */
const bodyMs = 30_000;

/** Facts take milliseconds. After this time the answer says that gateways do not have the change yet. */
const copyMs = 5000;

/** Translates /api/v1 to the services behind it. */
export const gateway = defineService({
  name,
  schema: "gateway",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  clients: callable,
  optional: ["offline-sales"],
  rpcs: [personalData.rpcs],
  consumers,
  jobs: [
    deleteKeptAnswers,
    deleteEndedSessions,
    findFull,
    removeExpiredUploads,
    removeUnrecordedUploads,
    storeDeviceContacts,
    measureDevices,
    tellQueues,
  ],
  works: [personalData.work],
  holdings: personalData.holdings,
  async start({ config, db, reads, cache, files, clock, log, metrics, tracing, clients, isInstalled }) {
    const provider = readProvider(config);
    const directory = openDirectory(
      {
        // A connection pool of its own: a flood of unknown tokens delays no scan. The organizer of a token follows only
        // from the answer, so each token is a party.
        findByHash: (kind, hash) =>
          waitForDatabase(reads.inTurn(hash.toString("hex"), (on) => findByHash(on, kind, hash))),
        findSession: (hash) => waitForDatabase(reads.inTurn(hash.toString("hex"), (on) => findSession(on, hash))),
        hasEvent: (organizer, event) =>
          waitForDatabase(reads.inTurn(organizer, (on) => hasEvent(on, organizer, event))),
      },
      { operatorKey: config.operatorKey?.reveal() },
    );
    const contacts = new DeviceContacts(() => clock.now());
    const listener = listenForChanges({ db, log }, () => directory.forget());
    const fullCallers: FullCallers = { most: config.keptAnswers, current: new Set() };
    const imported = metrics.counter(
      "import_records_total",
      "Records of imports and of the feed, by what became of them.",
      ["outcome"],
    );
    const doubtful = metrics.counter(
      "import_warnings_total",
      "Fields that records of imports and of the feed were taken without, or that are doubtful.",
      ["kind", "field"],
    );
    const importTargets: ImportTargets = {
      onRecord: (outcome) => imported.add({ outcome }),
      isOperatorKey: directory.isOperatorKey,
      async noteWarnings(warnings) {
        for (const { count, ...about } of warnings) doubtful.add(about, count);
        await waitForDatabase(addWarnings(db, warnings)).catch((error: unknown) => {
          log.warn("warnings about records are not counted: they could not be stored", { error });
        });
      },
      owners: recordOwners(clients),
      readers: factReaders(clients, {
        isInstalled,
        gateway: async (marked) => ({ caughtUp: await hasPassed(db, { group: name, consumes, ...marked }) }),
      }),
      quotas: clients.quotas,
      tickets: clients.tickets,
    };
    const server = httpServer({
      host: config.host,
      port: config.port,
      mostConnections: config.connections,
      log,
      metrics,
    });
    const baseUrl = () => (config.baseUrl ?? `http://localhost:${server.port()}`).replace(/\/+$/, "");
    const routes = allRoutes({
      clients,
      hasOfflineSales: isInstalled("offline-sales"),
      importTargets,
      uploadTargets: {
        files,
        record: (upload) => waitForDatabase(insertUpload(db, upload)),
        now: () => clock.now(),
        maxBytes: config.uploadLimit,
        countOutstanding: (caller) => waitForDatabase(countOutstanding(db, { ...ownerOf(caller), now: clock.now() })),
        mostOutstanding: { files: config.uploadFiles, size: config.uploadBytes },
      },
      credentials: {
        makeToken() {
          const { requestId } = currentContext();
          // Only the operator gets here.
          const secret = config.operatorKey?.reveal();
          return requestId === undefined || secret === undefined ? makeToken() : deriveToken(secret, requestId);
        },
        async untilCopied(state, signal) {
          const copied = await poll(() => isAsNewAs(db, state), { until: Date.now() + copyMs, signal });
          // This process need not wait for its own notification.
          directory.forget();
          return copied;
        },
      },
      contacts,
      findContacts: (organizer, devices) => reads.inTurn(organizer, (on) => findContacts(on, { organizer, devices })),
      findHeard: (organizer, event) => reads.inTurn(organizer, (on) => findHeardDevices(on, { organizer, event })),
      findDeviceNames: (organizer, ids) => reads.inTurn(organizer, (on) => findDeviceNames(on, { organizer, ids })),
      sessions: openSessions({ db, reads, directory }),
      identityProvider: provider && openIdentityProvider(provider),
      findEvents: (organizer, names) => reads.inTurn(organizer, (on) => findEvents(on, organizer, names)),
      findAnswer: (use) => waitForDatabase(findAnswer(db, use)),
      stopping: server.stopping,
      refusedStatus: config.refusedRedeemStatus === "400" ? "invalid" : "ok",
      findUploads: uploadFinder({ db, clock }),
      expireDropped: (ids, place) => expireDropped(db, place, { ids, now: clock.now() }),
      files,
      baseUrl,
      version,
      demoKeys: { apiKey: config.demoApiKey?.reveal(), deviceKey: config.demoDeviceKey?.reveal() },
    });
    const app = buildApp({
      routes,
      directory,
      contacts,
      bodies: { maxMs: bodyMs },
      rate: { cache, limits: { requests: config.rateLimit, scans: config.rateLimitRedeem } },
      answers: endClaims(
        {
          claim: (use) => claimRequest(db, use),
          find: (use) => findRequest(db, use),
          keep: (claim, answer) => keepAnswer(db, claim, answer),
          release: (claim) => releaseRequest(db, claim),
          isFull: (caller) => fullCallers.current.has(caller),
        },
        { log },
      ),
      baseUrl,
      isLeaving: () => server.isLeaving(),
      log,
      metrics,
      tracing,
    });
    server.answerWith(app.listener());
    return {
      deps: {
        db,
        files,
        clock,
        metrics,
        directory,
        contacts,
        fullCallers,
        importTargets,
        alarms: clients.alarms,
        stopping: server.stopping,
      },
      servers: [server],
      close: () => listener.stop(),
    };
  },
});

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
