import { LRUCache } from "lru-cache";
import { openZone, type Zone } from "./local-time.ts";
import { type Question, readQuestion } from "./questions/question.ts";
import { findHabits, type WritingHabits } from "./questions/writing-habits.ts";
import { type Rules, readRules } from "./rules/read-rules.ts";
import { findWording, type Wording } from "./wording/wording.ts";

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
}

/** Caches the lists of running events; a bound against everything else. */
const mostRules = 500;

/** A question has some thousand characters: room for the questions of hundreds of events. */
const mostCharacters = 4_000_000;

/** Events have few languages, but a client may name any. */
const mostLocales = 500;

/** There are some hundred time zones, but a client may name any. */
const mostZones = 500;

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
  return {
    rules: (json) => rules.memo(json).read,
    question: (document) => questions.memo(document),
    habits: (locale) => habits.memo(locale),
    wording: (locale) => wordings.memo(locale),
    zone: (name) => zones.memo(name).zone,
  };
}
