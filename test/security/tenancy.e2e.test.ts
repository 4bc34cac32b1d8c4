import { describe, expect, it } from "vitest";
import type { Documented } from "./event-routes.ts";
import { recordsThatTakeAway } from "./foreign-records.ts";
import { hashRowsOf, openAllSchemas } from "./hash-rows.ts";
import { findHostileWrites, type WriteDocument } from "./hostile-writes.ts";
import {
  alphaOne,
  alphaTwo,
  betaOne,
  betaTwo,
  device,
  type Home,
  homes,
  lists,
  markOf,
  ownOf,
  pathOf,
  permissions,
  profiles,
  shared,
  token,
} from "./tenants.ts";
import { tenantsInUse } from "./tenants-in-use.ts";

const opens = (anyOf: readonly string[], permission: string) => anyOf.length === 0 || anyOf.includes(permission);
const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];

describe("tenants", () => {
  const tenants = tenantsInUse();
  const { expectNothingOf, fill, idOn, send } = tenants;

  it("[S5.5] has a rule for every route of an event", () => {
    expect(tenants.routes.length).toBeGreaterThan(10);
    for (const { method, path, anyOf } of tenants.routes)
      expect(anyOf, `${method} ${path}`).toSatisfy(() => anyOf.every((name) => permissions.includes(name as never)));
  });

  it("[R4.2, S1.1] shows each event its own, though the ids are the same", async () => {
    for (const home of homes) {
      const as = token(home[0]);
      const others = homes.filter((other) => other !== home);
      for (const { method, path } of tenants.routes.filter((route) => route.method === "GET")) {
        const answer = await send(method, fill(home, path, shared), { as });
        expect(answer.status, path).toBe(200);
        // An erasure, counts and what is left of a quota say nothing of their event, an archive is compressed, and lists of alarms and about badges are empty.
        if (!/^\/(?:shredders|badge)|\/(?:alarms|availability|counts|hour)\/$/.test(path))
          expect(JSON.stringify(answer.body), path).toContain(markOf(home));
        expectNothingOf(answer, ...others);
      }
    }
  });

  it("[A1.17, A2.1, A2.2, S1.2, S2.4, S5.4] answers a foreign organizer, a foreign event and one that is not there with the same 403", async () => {
    const unknown = await send("GET", `/api/v1/organizers/nobody/events/nothing${lists}`, { as: token("alpha") });
    expect(unknown.status).toBe(403);
    for (const { method, path, anyOf } of tenants.routes) {
      for (const [home, as] of [
        [betaOne, token("alpha")],
        [betaOne, device("full")],
        [alphaOne, token("beta")],
        [alphaTwo, token("alpha-one")],
        [alphaOne, device("one-event")],
        [alphaOne, token("nowhere")],
        ...(anyOf.length === 0 ? [] : [[alphaOne, token("powerless")]]),
        [alphaOne, `Token ${tenants.platform.operatorKey}`],
        [["alpha", "three"], token("alpha")],
        [["gamma", "one"], token("alpha")],
        [["alpha", "ONE"], token("alpha")],
        [["ALPHA", "one"], token("alpha")],
        [["alpha%2Fone", "one"], token("alpha")],
        [["alpha", "one%20"], token("alpha")],
        [["alpha", "one%2F..%2Ftwo"], token("alpha-one")],
      ] as [Home, string][]) {
        for (const id of [shared, 9999, "no-id"]) {
          const answer = await send(method, fill(home, path, id), { as });
          expect(answer.status, `${method} ${fill(home, path, id)} as ${as}`).toBe(403);
          expect(answer.body).toEqual(unknown.body);
        }
      }
    }
  });

  it("[A2.1, D9.11, S1.2] shows an organizer its own, and gives every key that is not for all its events the same 403", async () => {
    const document = (await tenants.platform.request("GET", "/api/v1/openapi.json")).body as Documented;
    const ofOrganizer = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/api/v1/organizers/{organizer}/retention/"))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path] as const));
    expect(ofOrganizer.length).toBeGreaterThan(4);
    const unknown = await send("GET", `${pathOf(betaOne)}${lists}`, { as: token("alpha") });
    for (const [method, path] of ofOrganizer) {
      for (const [organizer, as] of [
        ["beta", token("alpha")],
        ["alpha", token("beta")],
        ["alpha", token("alpha-one")],
        ["alpha", token("nowhere")],
        ["alpha", token("powerless")],
        ["alpha", device("one-event")],
        ["alpha", device("pretixscan")],
        ["alpha", device("full")],
        ["alpha", `Token ${tenants.platform.operatorKey}`],
        ["gamma", token("alpha")],
        ["ALPHA", token("alpha")],
        ...permissions.filter((name) => name !== "event.orders:write").map((name) => ["alpha", token(name)] as const),
      ] as const) {
        const answer = await send(method, path.replace("{organizer}", organizer), { as });
        expect([answer.status, answer.body], `${method} ${path} of ${organizer} as ${as}`).toEqual([403, unknown.body]);
      }
    }
    const at = (organizer: string) => `/api/v1/organizers/${organizer}/retention/`;
    const body = { days: 3650, shredders: ["invoices"] };
    expect((await send("PUT", at("alpha"), { as: token("event.orders:write"), body })).status).toBe(200);
    expect((await send("GET", at("alpha"), { as: token("alpha") })).body).toMatchObject(body);
    expect((await send("GET", at("beta"), { as: token("beta") })).body).toMatchObject({ days: null });
    expect((await send("DELETE", at("alpha"), { as: token("alpha") })).status).toBe(204);
  });

  it("[E1.5, E2.4, S1.2] lists of an organizer its events and dates, those that the credentials are for alone", async () => {
    for (const [organizer, as, its] of [
      ["alpha", token("alpha"), [alphaOne, alphaTwo]],
      ["alpha", token("alpha-one"), [alphaOne]],
      ["alpha", device("one-event"), [alphaTwo]],
      ["alpha", token("nowhere"), []],
      ["beta", token("beta"), [betaOne, betaTwo]],
    ] as const) {
      for (const list of ["events", "subevents"]) {
        const answer = await send("GET", `/api/v1/organizers/${organizer}/${list}/`, { as });
        expect(answer.status, `${list} as ${as}`).toBe(200);
        for (const home of homes)
          expect(JSON.stringify(answer.body).includes(markOf(home))).toBe(its.some((one) => one === home));
      }
    }
    for (const list of ["events", "subevents", "reusablemedia"])
      for (const as of [token("beta"), `Token ${tenants.platform.operatorKey}`])
        expect((await send("GET", `/api/v1/organizers/alpha/${list}/`, { as })).status).toBe(403);
  });

  it("[A4.8, S1.3, S1.5] does not find in one event what is in another", async () => {
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const { method, path } of tenants.routes.filter((route) => route.path.includes("{"))) {
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
        // One parameter at a time is foreign; the others are at home.
        for (const name of names) {
          const filled = path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
            String(
              each === name
                ? idOn({ path, name: each }, foreign, ownOf(foreign))
                : idOn({ path, name: each }, alphaOne, shared),
            ),
          );
          const body = method === "PUT" ? { body: { name: "new name" } } : {};
          const answer = await send(method, pathOf(alphaOne) + filled, { as: token("alpha"), ...body });
          expect(answer.status, `${method} ${filled}`).toBe(404);
          expectNothingOf(answer, foreign);
        }
      }
      const secret = `${markOf(foreign)}-secret-${shared}`;
      const scan = await send("POST", `${pathOf(alphaOne)}${lists}${shared}/positions/${secret}/redeem/`, {
        as: token("alpha"),
        body: { force: true },
      });
      expect(scan).toMatchObject({ status: 404, body: { reason: "invalid" } });
    }
  });

  it("[S1.8] shows a credential of one event nothing of another, on any address and by any parameter", async () => {
    const document = (await tenants.platform.request("GET", "/api/v1/openapi.json")).body as Documented;
    const own = { as: token("alpha"), headers: { "x-idempotency-key": "of-another" } };
    for (const home of [alphaOne, alphaTwo])
      await send("POST", `${pathOf(home)}${lists}${shared}/positions/unknown/redeem/`, {
        ...own,
        body: { force: true },
      });
    let asked = 0;
    for (const [home, foreign, as] of [
      [alphaOne, alphaTwo, token("alpha-one")],
      [alphaTwo, alphaOne, device("one-event")],
    ] as const) {
      const others = homes.filter((other) => other !== home);
      // The mark of the other event is in none of them, so an answer that repeats them is no leak.
      const values = [foreign.join("-"), foreign[1], String(ownOf(foreign)), "of-another"];
      const body = {
        ...{ secret: `${markOf(foreign)}-secret-${shared}`, lists: [shared, ownOf(foreign)], position: ownOf(foreign) },
        ...{ raw_barcode: "x", error_reason: "error", force: true, untrusted_input: false },
      };
      for (const [template, operations] of Object.entries(document.paths)) {
        const path = template.replace("{organizer}", home[0]).replace("{event}", home[1]);
        for (const [method, { parameters = [] }] of Object.entries(operations)) {
          if (!["get", "post"].includes(method)) continue;
          const names = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
          const queries = ["", ...names.flatMap((name) => values.map((value) => `?${name}=${value}`))];
          for (const id of [shared, ownOf(foreign)]) {
            for (const query of id === shared ? queries : [""]) {
              const lookup = query === "" ? body.secret : String(ownOf(foreign));
              const filled = path.replace("{lookup}", lookup).replaceAll(/\{\w+\}/g, String(id));
              const answer = await send(method.toUpperCase(), filled + query, {
                as,
                body: method === "post" ? body : undefined,
              });
              expectNothingOf(answer, ...others);
              asked += 1;
            }
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(200);
  });

  it("[P3.2, P3.3] shows a person of one event, who may do everything, nothing of others, and nothing of the organizer or the operator", async () => {
    const operator = `Token ${tenants.platform.operatorKey}`;
    const grant = { name: "Ada", all_events: false, events: ["one"], permissions };
    const made = await send("POST", "/api/v1/organizers/alpha/signinlinks/", { as: operator, body: grant });
    const link = new URL((made.body as { link: string }).link).hash.replace("#link=", "");
    const begun = await send("POST", "/api/v1/session/", { body: { link } });
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
    tenants.platform.keepOutOfLogs(link, cookie.replace("tessera_session=", ""));
    const person = { headers: { cookie, "sec-fetch-site": "same-origin" } };
    const unknown = await send("GET", `/api/v1/organizers/nobody/events/nothing${lists}`, person);
    expect(unknown.status).toBe(403);
    let opened = 0;
    for (const { method, path, anyOf } of tenants.routes) {
      for (const home of [alphaTwo, betaOne, betaTwo, ["alpha", "three"] as unknown as Home]) {
        const answer = await send(method, fill(home, path, shared), person);
        expect([answer.status, answer.body], `${method} ${fill(home, path, shared)}`).toEqual([403, unknown.body]);
      }
      // What is not there, so that nothing changes.
      const id = path.includes("{") ? 9999 : shared;
      const answer = await send(method, fill(alphaOne, path, id), person);
      expect(answer.status === 403, `${method} ${path} ${answer.status}`).toBe(
        anyOf.length > 0 && !anyOf.some((name) => permissions.includes(name as never)),
      );
      expectNothingOf(answer, alphaTwo, betaOne, betaTwo);
      opened += 1;
    }
    expect(opened).toBeGreaterThan(60);
    for (const list of ["events", "subevents"]) {
      const answer = await send("GET", `/api/v1/organizers/alpha/${list}/`, person);
      expect(JSON.stringify(answer.body)).toContain(markOf(alphaOne));
      expectNothingOf(answer, alphaTwo, betaOne, betaTwo);
    }
    for (const path of [
      "alpha/apikeys",
      "alpha/devices",
      "alpha/sessions",
      "alpha/retention",
      "beta/sessions",
      "beta/events",
    ])
      expect((await send("GET", `/api/v1/organizers/${path}/`, person)).status, path).toBe(403);
    expect((await send("POST", "/api/v1/import/", person)).status).toBe(403);
    // The operator of the platform alone sees sessions, those of each organizer apart.
    const listed = async (organizer: string) =>
      ((await send("GET", `/api/v1/organizers/${organizer}/sessions/`, { as: operator })).body as { count: number })
        .count;
    expect([await listed("alpha"), await listed("beta")]).toEqual([1, 0]);
  });

  it("[A7.5, A8.5, S1.4] refuses foreign ids in filters and bodies under their own name", async () => {
    // Compared, not looked up.
    const plain = new Set(["page", "page_size", "subevent_match", "gate", "device", "max_usages", "redeemed"]);
    let tried = 0;
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const { path, operation } of tenants.routes.filter((route) => route.method === "GET")) {
        for (const { name } of (operation.parameters ?? []).filter(
          (parameter) => parameter.in === "query" && parameter.schema.type === "integer" && !plain.has(parameter.name),
        )) {
          tried += 1;
          const query = `?${name}=${ownOf(foreign)}`;
          const answer = await send("GET", fill(alphaOne, path, shared) + query, { as: token("alpha") });
          expect(answer.status, path + query).toBe(400);
          expect(Object.keys(answer.body as object)).toEqual([name]);
          expectNothingOf(answer, foreign);
        }
      }
      for (const [method, path] of [
        ["POST", lists],
        ["PUT", `${lists}${shared}/`],
        ["PATCH", `${lists}${shared}/`],
      ] as const) {
        for (const [field, value] of [
          ["subevent", ownOf(foreign)],
          ["limit_products", [shared, ownOf(foreign)]],
        ] as const) {
          const body = { name: "mine", [field]: value };
          const answer = await send(method, pathOf(alphaOne) + path, { as: token("alpha"), body });
          expect(answer.status, `${method} ${path} ${field}`).toBe(400);
          expect(Object.keys(answer.body as object)).toEqual([field]);
          expectNothingOf(answer, foreign);
        }
      }
    }
    expect(tried).toBeGreaterThan(0);
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const field of ["item", "variation", "quota", "subevent"]) {
        const body = { [field]: ownOf(foreign) };
        for (const [method, path, sent] of [
          ["POST", "/vouchers/", body],
          ["PATCH", `/vouchers/${shared}/`, body],
          ["POST", "/vouchers/batch_create/", [body]],
        ] as const) {
          const answer = await send(method, pathOf(alphaOne) + path, { as: token("alpha"), body: sent });
          expect(answer.status, `${method} ${path} ${field}`).toBe(400);
          expectNothingOf(answer, foreign);
          const wrong = Array.isArray(answer.body) ? (answer.body as object[])[0] : answer.body;
          expect(Object.keys(wrong as object)).toEqual([field]);
        }
      }
    }
    const refusals = `${pathOf(alphaOne)}${lists}${shared}/failed_checkins/`;
    for (const foreign of [alphaTwo, betaOne, betaTwo]) {
      for (const [field, status] of [
        ["raw_item", 400],
        ["raw_subevent", 400],
        ["position", 404],
      ] as const) {
        const body = { error_reason: "error", raw_barcode: "x", [field]: ownOf(foreign) };
        const answer = await send("POST", refusals, { as: token("alpha"), body });
        expect(answer.status, field).toBe(status);
        expect(Object.keys(answer.body as object)).toEqual([status === 404 ? "detail" : field]);
      }
    }
  });

  it("[S1.6] leaves the neighbours as they are when one is changed, scanned and emptied", async () => {
    const look = async (home: Home) => {
      const answers = await Promise.all(
        [lists, `${lists}${shared}/status/`, `${lists}${shared}/positions/`, "/checkins/"].map((path) =>
          send("GET", pathOf(home) + path, { as: token(home[0]) }),
        ),
      );
      return answers.map(({ body }) => body as unknown);
    };
    const before = await Promise.all([alphaOne, betaOne, betaTwo].map(look));
    const at = `${pathOf(alphaTwo)}${lists}`;
    const as = token("alpha");
    expect((await send("POST", `${at}${shared}/positions/${shared}/redeem/`, { as })).status).toBe(201);
    expect((await send("PATCH", `${at}${shared}/`, { as, body: { name: "renamed" } })).status).toBe(200);
    expect((await send("PUT", `${at}${ownOf(alphaTwo)}/`, { as, body: { name: "replaced" } })).status).toBe(200);
    expect((await send("DELETE", `${at}${shared}/`, { as })).status).toBe(204);
    expect((await send("GET", at, { as })).body).toMatchObject({ count: 1 });
    expect(await Promise.all([alphaOne, betaOne, betaTwo].map(look))).toEqual(before);
  });

  it("[A2.3, S5.1] gives every route to the permissions it needs, and to no others", async () => {
    for (const permission of permissions) {
      for (const { method, path, anyOf } of tenants.routes) {
        // What is not there, so that nothing changes: who may, reads 404 or 400; who may not, 403.
        const id = path.includes("{") ? 9999 : shared;
        const answer = await send(method, fill(alphaOne, path, id), { as: token(permission) });
        const may = opens(anyOf, permission);
        expect(answer.status === 403, `${permission}: ${method} ${path} ${answer.status}`).toBe(!may);
      }
    }
  });

  it("[A1.13, A1.14, A2.15, A4.6, A4.7, S5.3] asks for the right to read where a method is HEAD or OPTIONS, and before it says that a method is missing", async () => {
    const paths = [...new Set(tenants.routes.map(({ path }) => path))];
    for (const permission of permissions) {
      for (const path of paths) {
        const there = tenants.routes.filter((route) => route.path === path);
        const getter = there.find(({ method }) => method === "GET");
        if (getter === undefined) continue;
        const mayRead = opens(getter.anyOf, permission);
        for (const method of ["HEAD", "OPTIONS"]) {
          // These exist for the key that asked for them alone.
          const isOwn = method === "HEAD" && /^\/shredders\/(?:download|status)\//.test(path);
          const answer = await send(method, fill(alphaOne, path, shared), { as: token(permission) });
          expect(answer.status, `${permission}: ${method} ${path}`).toBe(mayRead ? (isOwn ? 404 : 200) : 403);
        }
      }
    }
    for (const path of paths) {
      const there = tenants.routes.filter((route) => route.path === path);
      const allowed = there.map(({ method }) => method);
      const isOpen = there.every(({ anyOf }) => anyOf.length === 0);
      for (const method of methods.filter((each) => !["HEAD", "OPTIONS", ...allowed].includes(each))) {
        const answer = await send(method, fill(alphaOne, path, 9999), { as: token("alpha") });
        expect(answer.status, `${method} ${path}`).toBe(405);
        for (const each of allowed) expect(answer.headers.get("allow")).toContain(each);
        expect((await send(method, fill(alphaOne, path, 9999), { as: token("powerless") })).status).toBe(
          isOpen ? 405 : 403,
        );
        expect((await send(method, fill(alphaOne, path, 9999))).status).toBe(401);
      }
    }
  });

  it("[A2.14, R3.11, S5.2] opens to device profiles the routes of theirs, and to unknown ones those of a scanner", async () => {
    for (const [name, profile] of [
      ...profiles.map((each) => [each, each] as const),
      ["made-up", "pretixscan"] as const,
    ]) {
      for (const { method, path, profiles: open } of tenants.routes) {
        const id = path.includes("{") ? 9999 : shared;
        const answer = await send(method, fill(alphaOne, path, id), { as: device(name) });
        const may = open.includes(profile);
        expect(answer.status === 403, `${name}: ${method} ${path} ${answer.status}`).toBe(!may);
      }
    }
  });

  it("shows a key that may only check in whom it searches for", async () => {
    const search = async (query: string) => {
      const path = `${pathOf(alphaOne)}${lists}${shared}/positions/${query}`;
      return (await send("GET", path, { as: token("event.orders:checkin") })).body as { count: number };
    };
    for (const query of ["", "?search=", "?search=ma", "?search=%20%20%20", `?order=ORD${shared}`]) {
      expect((await search(query)).count, query).toBe(0);
    }
    expect((await search("?search=mark")).count).toBe(2);
  });

  it.each([
    ["nothing", undefined, {}],
    ["another scheme", "Basic YTpi", {}],
    ["an unknown key", token("unknown"), {}],
    ["a key as a device", device("alpha"), {}],
    ["a device as a key", token("full"), {}],
    ["a device that was never initialised", "Device null", {}],
    ["an empty token", "Token", {}],
    ["a token of two words", `${token("alpha")} x`, {}],
    ["a key that was switched off", token("off"), {}],
    ["a revoked device", device("revoked"), { detail: "Device access has been revoked." }],
  ])("[A1.4, A1.9, R3.10, R3.12] asks %s for credentials on every route", async (_name, as, body) => {
    for (const home of [alphaOne, ["nobody", "nothing"] as unknown as Home]) {
      for (const { method, path } of tenants.routes) {
        const answer = await send(method, fill(home, path, shared), as === undefined ? {} : { as });
        expect(answer.status, `${method} ${path}`).toBe(401);
        expect(answer.headers.get("www-authenticate")).toBe("Token");
        expect(answer.body).toMatchObject({ detail: expect.any(String), ...body });
      }
    }
  });

  it("[A2.17] takes classic names for permissions", async () => {
    expect((await send("GET", pathOf(alphaOne) + lists, { as: token("classic") })).status).toBe(200);
    expect((await send("POST", pathOf(alphaOne) + lists, { as: token("classic") })).status).toBe(403);
  });

  it("[R2.8, R3.8, R5.7, S1.7] lets no key import into a place by the name of another", async () => {
    const db = openAllSchemas(tenants.platform.databaseUrl);
    try {
      const before = await hashRowsOf(db, "alpha");
      const answer = await tenants.platform.import(recordsThatTakeAway());
      // What names something of alpha besides is taken without it.
      const [rejected, warned] = [answer.errors, answer.warnings].map((lines) => lines.map(({ line }) => line));
      expect({ rejected, warned }).toEqual({ rejected: [1, 2, 4, 5, 6, 7, 11], warned: [3, 8, 9, 10, 12, 13] });
      expect(JSON.stringify(answer)).not.toContain("mark-");
      expect(JSON.stringify(answer)).not.toContain("token-of-");
      expect(await hashRowsOf(db, "alpha")).toEqual(before);
    } finally {
      await db.close();
    }
    expect((await send("GET", pathOf(alphaOne) + lists, { as: token("alpha") })).status).toBe(200);
    expect((await send("GET", pathOf(betaOne) + lists, { as: token("alpha") })).status).toBe(403);
    for (const id of [900, 901]) {
      const path = `${pathOf(betaOne)}${lists}${shared}/positions/${id}/`;
      expect((await send("GET", path, { as: token("beta") })).status, path).toBe(404);
    }
  });

  it("[S1.9] writes where the path says, whatever organizers and events a body names", async () => {
    const { platform } = tenants;
    const document = (await platform.request("GET", "/api/v1/openapi.json")).body as WriteDocument;
    const writes = findHostileWrites(document, { place: { organizer: "beta", event: "one" }, id: shared });
    const db = openAllSchemas(platform.databaseUrl);
    try {
      const before = await hashRowsOf(db, "beta");
      const accepted = new Set<string>();
      for (const { name, method, path, isOfOperator, bodies } of writes) {
        const [, inEvent] = path.split("/events/{event}");
        const at =
          inEvent === undefined
            ? path.replace("{organizer}", "alpha").replaceAll(/\{\w+\}/g, String(shared))
            : fill(alphaOne, inEvent, shared);
        const as = isOfOperator ? `Token ${platform.operatorKey}` : token("alpha");
        for (const body of bodies) {
          const { status } = await send(method, at, { as, body });
          if (status < 300) accepted.add(name);
        }
      }
      expect(accepted.size, `only ${[...accepted].join(", ")} were accepted`).toBeGreaterThan(15);
      expect(await hashRowsOf(db, "beta")).toEqual(before);
    } finally {
      await db.close();
    }
  });
});
