// Refuses commits whose subject is longer than 72 characters: tools that list commits cut them there.
import { spawnSync } from "node:child_process";

const longest = 72;
/** Older commits stay as they are. The date of the author counts, which a commit keeps when it is picked or rebased. */
const since = "2026-11-28T21:30:00Z";

const log = ["log", "--no-merges", "--format=%at %h %s"];
const { status, stdout } = spawnSync("git", log, { encoding: "utf8", maxBuffer: 2 ** 28 });
// An archive of the sources has no history. A shallow clone has its newest commits.
const commits = status === 0 ? stdout.split("\n") : [];
const long = commits.flatMap((line) => {
  const [, authored = "", id, subject = ""] = /^(\d+) (\S+) (.*)$/s.exec(line) ?? [];
  const { length } = [...subject];
  return Number(authored) * 1000 >= Date.parse(since) && length > longest ? [`${id} has ${length}: ${subject}`] : [];
});
if (long.length > 0) {
  process.stdout.write(`Shorten these subjects to ${longest} characters:\n${long.join("\n")}\n`);
  process.exitCode = 1;
}
