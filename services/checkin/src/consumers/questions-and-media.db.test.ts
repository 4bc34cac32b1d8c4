import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { blockedSecretFact, mediumFact, noon, questionFact, revokedSecretFact } from "../testing/facts.ts";
import { startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

interface Copied {
  readonly what: string;
  readonly topic: Topic<never>;
  /** The state of an entity at a revision; states differ between revisions. */
  readonly at: (id: number, revision: number) => object;
  /** The same in another event, or of another organizer. */
  readonly elsewhere: object;
  readonly keyOf: (id: number) => string;
  /** Everything that is stored, as `row`, in the order of ids. */
  readonly kept: Sql;
  readonly rowAt: (id: number, revision: number) => unknown[];
}

const kinds: readonly Copied[] = [
  {
    what: "questions",
    topic: topics.questionChanged as Topic<never>,
    at: (id, revision) =>
      questionFact(id, {
        revision,
        items: [revision, 2 ** 50],
        document: Buffer.from(JSON.stringify({ question: { de: `„Größe“ ${revision}` } })),
      }),
    elsewhere: questionFact(1, { event: "other", items: [], askDuringCheckin: false }),
    keyOf: (id) => `bigevents/sampleconf/${id}`,
    kept: sql`
      select jsonb_build_array(event, id, revision, items, position, ask_during_checkin, document) as row
        from question
       order by id, event`,
    rowAt: (id, revision) => [
      "sampleconf",
      id,
      revision,
      [revision, 2 ** 50],
      id,
      true,
      { question: { de: `„Größe“ ${revision}` } },
    ],
  },
  {
    what: "revoked secrets",
    topic: topics.revokedSecretChanged as Topic<never>,
    at: (id, revision) => revokedSecretFact(id, { revision, secret: ` s${revision} `, position: undefined }),
    elsewhere: revokedSecretFact(1, { event: "other", secret: "\u{1f39f}".repeat(1000) }),
    keyOf: (id) => `bigevents/sampleconf/${id}`,
    kept: sql`select jsonb_build_array(event, id, revision, secret, position) as row from revoked_secret order by id, event`,
    rowAt: (id, revision) => ["sampleconf", id, revision, ` s${revision} `, null],
  },
  {
    what: "blocked secrets",
    topic: topics.blockedSecretChanged as Topic<never>,
    at: (id, revision) => blockedSecretFact(id, { revision, blocked: revision % 2 === 0 }),
    elsewhere: blockedSecretFact(1, { event: "other", secret: "\u{1f39f}".repeat(1000) }),
    keyOf: (id) => `bigevents/sampleconf/${id}`,
    kept: sql`select jsonb_build_array(event, id, revision, secret, blocked) as row from blocked_secret order by id, event`,
    rowAt: (id, revision) => ["sampleconf", id, revision, `blocked${id}`, revision % 2 === 0],
  },
  {
    what: "reusable media",
    topic: topics.reusableMediumChanged as Topic<never>,
    at: (id, revision) =>
      mediumFact(id, { revision, active: false, expires: noon + 1, linkedPositions: [{ event: "e", id: revision }] }),
    elsewhere: mediumFact(1, { organizer: "other", linkedPositions: [] }),
    keyOf: (id) => `bigevents//${id}`,
    kept: sql`
      select jsonb_build_array(organizer, id, revision, type, identifier, active,
                               (extract(epoch from expires_at) * 1000000)::bigint, linked_positions) as row
        from reusable_medium
       order by id, organizer`,
    rowAt: (id, revision) => [
      ...["bigevents", id, revision, "nfc_uid", `04${id}`, false, noon + 1],
      [{ event: "e", id: revision }],
    ],
  },
];

describe.each(kinds)("copies of $what", ({ topic, at, elsewhere, keyOf, kept, rowAt }) => {
  const deliver = (...facts: (object | string)[]) => checkin.deliver(topic, facts as never[]);
  const rows = async () => (await checkin.db.many<{ row: unknown }>(kept)).map(({ row }) => row);

  it("keep the newest state, whatever order facts come in", async () => {
    await deliver(at(1, 5));
    await deliver(at(1, 4));
    expect(await rows()).toEqual([rowAt(1, 5)]);
    await deliver(at(1, 6), at(1, 7), at(2, 1));
    expect(await rows()).toEqual([rowAt(1, 7), rowAt(2, 1)]);
  });

  it("delete what was deleted, treat what is created again as new, and keep the rest", async () => {
    await deliver(at(1, 9), at(2, 9), elsewhere);
    await deliver(keyOf(1), keyOf(2), at(2, 1));
    const [other, ...here] = await rows();
    expect(here).toEqual([rowAt(2, 1)]);
    expect(JSON.stringify(other)).toMatch(/^\["other",1,1/);
  });

  it("lose what a rebuild did not tell of", async () => {
    await deliver(at(1, 99), at(2, 100));
    await checkin.sweep(topic, 100);
    expect(await rows()).toEqual([rowAt(2, 100)]);
  });
});
