import type { Source } from "./read-sources.ts";

/** A pattern that no line of some files may contain, nor their paths where it is a rule about names. */
export interface TextRule {
  readonly name: string;
  /** What to do about a finding. */
  readonly remedy: string;
  readonly files: RegExp;
  readonly except?: RegExp;
  readonly pattern: RegExp;
  /** Left out: their texts. */
  readonly of?: "path" | "SQL without comments";
}

const everywhere = /^(?!pnpm-lock\.yaml$)/;
const tests = /\.test\.ts$|\/testing\/|^(?:test|packages\/testkit)\//;

export const textRules: readonly TextRule[] = [
  {
    name: "kit knows no ticket",
    remedy: "Kit is how any service runs: name what the code does there, or move it to the service it belongs to.",
    files: /^packages\/(?:kit|engines)\/src\//,
    except: tests,
    pattern:
      /ticket|Ticket|voucher|Voucher|attendee|Attendee|(?:(?<![A-Za-z])scan|Scan)(?:s|ned|ner|ning)?(?![a-z])|(?<![A-Za-z])orders(?![A-Za-z])|\border_?[iI]d\b|[oO]rganizer|\b(?:[Tt]he|[Aa]n|[Tt]his|[Tt]hat) event(?! loop)\b/,
  },
  {
    name: "kit's tables are named in kit alone",
    remedy: "Use what kit exports for them: tx.publish and outbox rows in kit/bus, and the queries of operators.",
    files: /^(?:packages|services|gateway)\/.*\.(?:ts|sql)$/,
    // The migration moves what boxoffice had in a column of its own into the table of work. Written statements have parts of kit.
    // Answers of requests about events are erased with them.
    except: new RegExp(
      `${tests.source}|^packages/kit/|^packages/events/src/answer-once\\.ts$|/schema\\.sql$|/src/store/statements/|/0006_gate_file_copies\\.sql$`,
    ),
    pattern:
      /\b(?:from|into|update|join|table|on)\s+(?:[\w${}]+\.)?(?:outbox|inbox|rebuild)\b(?! by)|\b(?:dead_letter|passed_marker|answered_request)\b|\b(?:insert into|update|delete from|join|alter table)\s+work\b/,
  },
  {
    name: "advisory locks are declared",
    remedy: "Name the lock with declareLock of kit/pg/locks, and take it with takeLocks, tryLock or a leader.",
    files: /^(?:packages|services|gateway)\/.*\.ts$/,
    except: new RegExp(`${tests.source}|^packages/kit/src/pg/`),
    pattern: /\bpg_(?:try_)?advisory_/,
  },
  {
    name: "faults come from a catalogue",
    remedy: "Declare the code in faults.ts of the package and in docs/faults.md, and make it by fault(code, message).",
    files: /^(?:packages|services|gateway)\/.*\.ts$/,
    // What arrives from a peer may have a code of another version.
    except: new RegExp(`${tests.source}|^packages/(?:kit/src/faults|engines/src/grpc/fault-status)\\.ts$`),
    pattern: /\bnew Fault\(/,
  },
  {
    name: "nothing is left to do",
    remedy: "Do it now, or write it down where work is planned; the code says what is.",
    files: everywhere,
    pattern: /\b(?:TO[D]O|FIX[M]E)\b/,
  },
  {
    name: "the project speaks of itself alone",
    remedy:
      "Say it without a path of one machine, a registry's host or the name of a tool that wrote it, and cite rules of docs/rules alone.",
    files: /./,
    // Each word is spelled so that it does not find itself.
    pattern:
      /(?<![\w.$*}])\/(?:wor[k]|roo[t]|far[m]|hom[e])\/[\w.]|registr[y]\.(?:npmjs|yarnpkg|npmmirror)|\bhold-?ou[t]\b|\bCo-Authored-B[y]\b|\(sourc[e]: (?:contract|behaviou?r|decisions)\b|\bdecisions\.m[d]\b|\b(?:claud[e]|anthropi[c]|copilo[t]|chatgp[t])\b/i,
  },
  {
    name: "names say what is inside",
    remedy: "Name the file after what happens in it; index.ts is for a package's door and the map of all routes.",
    files: everywhere,
    of: "path",
    pattern:
      /(?:^|[-/])(?:utils?|helpers?|common|misc|types|managers?|shared|lib)(?:\.[^/]*)?(?=\/|$)|^(?!(?:packages\/[^/]+\/src|services\/[^/]+\/src|gateway\/src|gateway\/src\/routes)\/index\.ts$).*\/index\.ts$/,
  },
  {
    name: "SQL follows the conventions",
    remedy:
      "Enumerate columns, keywords in lower case, text for varchar, timestamptz for timestamp, half-open intervals for between.",
    files: /\.sql$/,
    of: "SQL without comments",
    pattern:
      /\b(?:select|returning)\s+(?:\w+\.)?\*|\bvarchar\b|\bcharacter varying\b|\btimestamp\b(?!tz)|\bbetween\b|\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|ALTER|TABLE|INDEX|PRIMARY|REFERENCES|DEFAULT|NOT NULL)\b/,
  },
  {
    name: "plain words",
    remedy: "Name the process, the row or the caller, in a short active sentence.",
    files: /\.(?:ts|mjs|md|proto|sql)$/,
    // Migrations that landed before the rule are never edited; the other file is a list of languages.
    except: new RegExp(
      `${tests.source}|^gateway/migrations/0003|^services/boxoffice/migrations/000[245]|^services/checkin/migrations/00(?:04|08|12)|/formats/words\\.ts$`,
    ),
    pattern: /\b(?:nobody|whoever|anew|he who|(?:is|are) none|him|his|he)\b/i,
  },
];

/** Finds what breaks a rule, as `path:line what`. */
export function findText({ files, except, pattern, of }: TextRule, sources: readonly Source[]): string[] {
  const chosen = sources.filter(({ path }) => files.test(path) && except?.test(path) !== true);
  return chosen.flatMap(({ path, text }) => {
    if (of === "path") return pattern.test(path) ? [`${path}:1 ${pattern.exec(path)?.[0]}`] : [];
    const lines = (of === undefined ? text : blankSqlComments(text)).split("\n");
    return lines.flatMap((line, index) => {
      const match = pattern.exec(line);
      return match === null ? [] : [`${path}:${index + 1} ${match[0].trim()}`];
    });
  });
}

/** Replaces `-- …` and block comments of SQL with spaces. */
function blankSqlComments(text: string): string {
  return text.replaceAll(/--.*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
}
