/** Writes how many there are of something: `1 fact`, `7 facts`. */
export function describeCount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** Writes a length of time in its greatest unit: `2 hours`. */
export function describeAge(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ] as const;
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? (["second", 1] as const);
  return describeCount(Math.floor(seconds / length), unit);
}
