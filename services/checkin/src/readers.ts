import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { LRUCache } from "lru-cache";
import { openZone, type Zone } from "./domain/local-time.ts";
import { type Question, readQuestion } from "./domain/questions/question.ts";
import { findHabits, type WritingHabits } from "./domain/questions/writing-habits.ts";
import { type Rules, readRules } from "./domain/rules/read-rules.ts";
import type { HasSigned } from "./domain/signed-ticket.ts";
import { findWording, type Wording } from "./domain/wording/wording.ts";

/** Parses texts that are the same for every scan of an event, and caches the results. */
export interface Readers {
  /** Null: the list has no rules. */
  rules(json: string): Rules | null;
  /** Throws for a document that is not a question: a batch catches it for each of its scans. */
  question(document: string): Question;
  habits(locale: string): WritingHabits;
  wording(locale: string): Wording;
  /** Null: there is no such time zone. */
  zone(name: string): Zone | null;
  /** The keys of signed tickets, as JSON. */
  ticketKeys(json: string): HasSigned;
}

/** Caches the lists of running events; a bound against everything else. */
const mostRules = 500;

/** A question has some thousand characters: room for the questions of hundreds of events. */
const mostCharacters = 4_000_000;

/** Events have few languages, but a client may name any. */
const mostLocales = 500;

/** There are some hundred time zones, but a client may name any. */
const mostZones = 500;

/** Keys have some hundred characters: room for those of thousands of events. */
const mostKeyCharacters = 1_000_000;

export function createReaders(): Readers {
  const rules = new LRUCache({ max: mostRules, memoMethod: (json: string) => ({ read: readRules(json) }) });
  const questions = new LRUCache({
    maxSize: mostCharacters,
    sizeCalculation: (_, document: string) => document.length,
    memoMethod: readQuestion,
  });
  const habits = new LRUCache({ max: mostLocales, memoMethod: findHabits });
  const wordings = new LRUCache({ max: mostLocales, memoMethod: findWording });
  const zones = new LRUCache({ max: mostZones, memoMethod: (name: string) => ({ zone: openZone(name) }) });
  const keys = new LRUCache({
    maxSize: mostKeyCharacters,
    sizeCalculation: (_, json: string) => json.length,
    memoMethod: readTicketKeys,
  });
  return {
    rules: (json) => rules.memo(json).read,
    question: (document) => questions.memo(document),
    habits: (locale) => habits.memo(locale),
    wording: (locale) => wordings.memo(locale),
    zone: (name) => zones.memo(name).zone,
    ticketKeys: (json) => keys.memo(json),
  };
}

/** A key that cannot be read has signed nothing. */
function readTicketKeys(json: string): HasSigned {
  const keys = (JSON.parse(json) as readonly string[]).flatMap((text) => readTicketKey(text) ?? []);
  return (payload, signature) => keys.some((key) => verify(null, payload, key, signature));
}

function readTicketKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey(Buffer.from(text, "base64"));
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}
